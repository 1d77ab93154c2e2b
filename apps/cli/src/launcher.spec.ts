import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import path from 'node:path';
import { expect, test } from '@jest/globals';

const LAUNCHER = path.resolve(import.meta.dirname, '../bin/echelon.mjs');
const OLD = '/usr/bin/node';

/** The system's own Node, where there is one that is too old for us. */
function findOldNode(): string | null {
  if (!existsSync(OLD)) return null;
  const major = Number(/^v(\d+)/.exec(spawnSync(OLD, ['--version'], { encoding: 'utf8' }).stdout)?.[1]);
  return major < 24 ? OLD : null;
}

test('an older Node hands over to the pinned one, with its arguments, its output and its exit code', () => {
  const node = findOldNode() ?? process.execPath;
  const run = (...args: string[]) => spawnSync(node, [LAUNCHER, ...args], { encoding: 'utf8' });
  expect(run('--version')).toMatchObject({ stdout: '0.1.0\n', status: 0 });
  expect(run('nothing')).toMatchObject({ status: 2 });
});
