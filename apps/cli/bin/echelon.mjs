#!/usr/bin/env node
// Editors start this file with the Node that they find; an older one hands over to the pinned one, if npm installed it.
import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import * as nodeModule from 'node:module';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

const OLDEST_NODE = [24, 9];
const file = fileURLToPath(import.meta.url);
const pinned = path.join(path.dirname(file), '../../../node_modules/.bin/node');

if (isNewEnough()) {
  nodeModule.enableCompileCache();
  const { main } = await import('@echelon/cli');
  process.exitCode = await main(process.argv);
} else if (existsSync(pinned)) {
  handOver();
} else {
  process.stderr.write(`Echelon needs Node ${OLDEST_NODE.join('.')} or newer here, and this is ${process.versions.node}.\n`);
  process.exitCode = 4;
}

function isNewEnough() {
  const [major = 0, minor = 0] = process.versions.node.split('.').map(Number);
  return major > OLDEST_NODE[0] || (major === OLDEST_NODE[0] && minor >= OLDEST_NODE[1]);
}

function handOver() {
  const child = spawn(pinned, [file, ...process.argv.slice(2)], { stdio: 'inherit' });
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => child.kill(signal));
  child.once('close', (code, signal) => process.exit(code ?? (signal === null ? 1 : 130)));
}
