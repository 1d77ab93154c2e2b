// All checks, or those named: npm run check -- types lint. Two at a time; a check that passes says only that.
import { spawn } from 'node:child_process';
import path from 'node:path';

const root = path.dirname(import.meta.dirname);

/** Slow ones first. Each is a program and its arguments, run by this Node. */
const CHECKS = {
  lint: ['node_modules/eslint/bin/eslint.js', '.'],
  types: ['node_modules/typescript/bin/tsc', '-b'],
  unused: ['node_modules/knip/bin/knip.js', '--no-config-hints', '--no-progress'],
  boundaries: [
    'node_modules/dependency-cruiser/bin/dependency-cruiser.mjs',
    '--config',
    '.dependency-cruiser.mjs',
    '-T',
    'err-long',
    'libs',
    'apps',
  ],
  format: ['node_modules/prettier/bin/prettier.cjs', '--check', '--log-level', 'warn', '.'],
  drift: ['scripts/check-drift.mjs'],
  repository: ['scripts/check-repository.mjs'],
  requirements: ['scripts/requirements.mjs'],
};
const AT_ONCE = 2;

const names = process.argv.slice(2);
const unknown = names.filter((name) => !Object.hasOwn(CHECKS, name));
if (unknown.length > 0) {
  console.error(`no such check: ${unknown.join(', ')} (there are ${Object.keys(CHECKS).join(', ')})`);
  process.exit(1);
}

const queue = names.length > 0 ? names : Object.keys(CHECKS);
const failed = [];
await Promise.all(Array.from({ length: AT_ONCE }, work));
console.log(failed.length === 0 ? 'check: no findings' : `check: findings in ${failed.join(', ')}`);
process.exitCode = failed.length === 0 ? 0 : 1;

async function work() {
  for (let name = queue.shift(); name; name = queue.shift()) await report(name);
}

async function report(name) {
  const started = performance.now();
  const { code, output } = await run(CHECKS[name]);
  const seconds = ((performance.now() - started) / 1000).toFixed(1);
  console.log(`${code === 0 ? '✓' : '✗'} ${name} (${seconds} s)`);
  if (code === 0) return;
  failed.push(name);
  console.log(output);
}

function run([program, ...args]) {
  return new Promise((resolve) => {
    const child = spawn(process.execPath, [path.join(root, program), ...args], { cwd: root, stdio: ['ignore', 'pipe', 'pipe'] });
    let output = '';
    for (const stream of [child.stdout, child.stderr]) stream.setEncoding('utf8').on('data', (text) => (output += text));
    child.on('close', (code) => resolve({ code, output }));
  });
}
