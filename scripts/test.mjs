// Runs the specs, or with --deep the long ones. ECHELON_TEST_REPORT names a file for Jest's JSON report.
import { spawn } from 'node:child_process';
import path from 'node:path';

const root = path.dirname(import.meta.dirname);
const args = process.argv.slice(2);
const deep = args[0] === '--deep';
const report = process.env.ECHELON_TEST_REPORT;

const jest = [
  ...['--experimental-vm-modules', '--no-warnings', path.join(root, 'node_modules/jest/bin/jest.js')],
  ...(deep ? ['--passWithNoTests', ...args.slice(1)] : args),
  ...(report ? ['--json', `--outputFile=${report}`] : []),
];
const env = { ...process.env, ...(deep ? { ECHELON_DEEP: '1' } : {}) };
const child = spawn(process.execPath, jest, { cwd: root, env, stdio: ['inherit', 'inherit', 'inherit'] });
for (const signal of ['SIGINT', 'SIGTERM']) process.on(signal, () => child.kill(signal));
child.on('exit', (code) => process.exit(code ?? 1));
