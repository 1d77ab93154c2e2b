import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { startScript } from '@echelon/testkit';
import { openWorkspaceRoot } from './workspace-root.js';

let parent: string;
let workspaceRoot: string;

beforeEach(() => {
  parent = mkdtempSync(path.join(tmpdir(), 'echelon-root-'));
  workspaceRoot = path.join(parent, 'not', 'there');
});
afterEach(() => rmSync(parent, { recursive: true, force: true }));

test('the first start makes the folder and marks it, and every later one reads the same id [O7]', () => {
  const first = openWorkspaceRoot({ workspaceRoot });
  expect(readdirSync(workspaceRoot)).toEqual(['.echelon-root']);
  expect(readFileSync(path.join(workspaceRoot, '.echelon-root'), 'utf8')).toBe(`${first.id}\n`);
  expect(openWorkspaceRoot({ workspaceRoot })).toEqual(first);
});

test('of processes that make and mark a folder at once one wins, and all name its id', async () => {
  workspaceRoot = path.join(parent, ...Array.from({ length: 200 }, () => 'deep'));
  const program = `
    import { openWorkspaceRoot } from '${path.resolve(import.meta.dirname, 'workspace-root.ts')}';
    import { existsSync } from 'node:fs';
    console.log('ready');
    const [, workspaceRoot, go] = process.argv;
    while (!existsSync(go));
    console.log(openWorkspaceRoot({ workspaceRoot }).id);
  `;
  const go = path.join(parent, 'go');
  const programs = Array.from({ length: 3 }, () => startScript(program, { args: [workspaceRoot, go] }));
  await Promise.all(programs.map((started) => started.line(/^ready$/)));
  writeFileSync(go, '');
  const ids = await Promise.all(programs.map((started) => started.line(/^[\da-f-]{36}$/)));
  await Promise.all(programs.map((started) => started.exited));
  expect(new Set(ids)).toEqual(new Set([openWorkspaceRoot({ workspaceRoot }).id]));
  expect(readdirSync(workspaceRoot)).toEqual(['.echelon-root']);
});

test('a marker that came with its folder from elsewhere is kept', () => {
  const { id } = openWorkspaceRoot({ workspaceRoot: path.join(parent, 'elsewhere') });
  openWorkspaceRoot({ workspaceRoot });
  writeFileSync(path.join(workspaceRoot, '.echelon-root'), id);
  expect(openWorkspaceRoot({ workspaceRoot })).toMatchObject({ id, path: workspaceRoot });
});

test('a marker that names no root, and a folder that cannot be written, are one sentence each', () => {
  openWorkspaceRoot({ workspaceRoot });
  writeFileSync(path.join(workspaceRoot, '.echelon-root'), 'half an i');
  expect(() => openWorkspaceRoot({ workspaceRoot })).toThrow(/^\S+\.echelon-root names no workspace root: restore the file, or delete it/);
  expect(() => openWorkspaceRoot({ workspaceRoot: '/proc/echelon-spec' })).toThrow(/^This account may not write to \/proc\/echelon-spec: /);
});
