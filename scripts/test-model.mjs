// Runs the model-based test: --runs N, --seed S; --path P and --at-once 1|3 play one failed sequence again.
import { spawn } from 'node:child_process';
import path from 'node:path';
import { parseArgs } from 'node:util';

const type = 'string';
const { values } = parseArgs({ options: { runs: { type }, seed: { type }, path: { type }, 'at-once': { type } } });
const given = {
  ECHELON_MODEL_RUNS: values.runs,
  ECHELON_MODEL_SEED: values.seed,
  ECHELON_MODEL_PATH: values.path,
  ECHELON_MODEL_AT_ONCE: values['at-once'],
};
const env = { ...process.env, ...Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined)) };
const program = [path.join(import.meta.dirname, 'test.mjs'), '--deep', 'test/model-based'];
const child = spawn(process.execPath, program, { env, stdio: 'inherit' });
for (const signal of ['SIGINT', 'SIGTERM']) process.on(signal, () => child.kill(signal));
child.on('exit', (code) => process.exit(code ?? 1));
