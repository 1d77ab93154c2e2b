// Runs every scenario of the parity suite on every surface and prints the table; --surface NAME runs one.
import { spawn } from 'node:child_process';
import path from 'node:path';
import { parseArgs } from 'node:util';

const { values } = parseArgs({ options: { surface: { type: 'string' } } });
const env = { ...process.env, ...(values.surface ? { ECHELON_PARITY_SURFACE: values.surface } : {}) };
const child = spawn(process.execPath, [path.join(import.meta.dirname, 'test.mjs'), '--deep', 'test/parity'], { env, stdio: 'inherit' });
for (const signal of ['SIGINT', 'SIGTERM']) process.on(signal, () => child.kill(signal));
child.on('exit', (code) => process.exit(code ?? 1));
