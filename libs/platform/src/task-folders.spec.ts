import {
  chmodSync,
  existsSync,
  lchownSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { newId } from '@echelon/persistence';
import { createTaskFolders } from './task-folders.js';

let place: string;
let root: string;

beforeEach(() => {
  place = mkdtempSync(path.join(tmpdir(), 'echelon-folders-'));
  root = path.join(place, 'root');
  mkdirSync(root);
});
afterEach(() => rmSync(place, { recursive: true }));

const remove = (folder: string) => createTaskFolders({ id: newId(), path: root }).remove(folder);

test('a task’s folder goes with all that is in it, and a second time nothing happens', async () => {
  const folder = newId();
  mkdirSync(path.join(root, folder, 'deep'), { recursive: true });
  writeFileSync(path.join(root, folder, 'deep', 'file'), 'text');
  await remove(folder);
  await remove(folder);
  expect(existsSync(path.join(root, folder))).toBe(false);
});

test('nothing outside the root goes: neither by a name nor by a link', async () => {
  const outside = path.join(place, 'outside');
  mkdirSync(outside);
  writeFileSync(path.join(outside, 'file'), 'text');
  const link = newId();
  symlinkSync(outside, path.join(root, link));
  await remove(link);
  for (const name of ['../outside', '.', '', '/', `${newId()}/../../outside`]) await expect(remove(name)).rejects.toThrow('named by an id');
  expect(existsSync(path.join(root, link))).toBe(false);
  expect(existsSync(path.join(outside, 'file'))).toBe(true);
});

/** Does it as somebody whom modes of files hold; root is held by none. */
async function asOrdinaryUser(work: () => Promise<void>): Promise<void> {
  if (process.geteuid?.() !== 0) return work();
  process.seteuid?.(NOBODY);
  try {
    await work();
  } finally {
    process.seteuid?.(0);
  }
}

const NOBODY = 65_534;

/** Makes the place that user's, with all that is in it, where it is root's. */
function giveAway(entry: string): void {
  if (process.geteuid?.() !== 0) return;
  lchownSync(entry, NOBODY, NOBODY);
  if (lstatSync(entry).isDirectory()) for (const name of readdirSync(entry)) giveAway(path.join(entry, name));
}

test('directories that nobody may write to, list or enter go as well, and what a link in them leads to keeps its mode', async () => {
  const folder = path.join(root, newId());
  const outside = path.join(place, 'outside');
  for (const directory of [outside, path.join(folder, 'read', 'only'), path.join(folder, 'closed')])
    mkdirSync(directory, { recursive: true });
  writeFileSync(path.join(folder, 'read', 'only', 'file'), 'text');
  writeFileSync(path.join(folder, 'closed', 'file'), 'text');
  symlinkSync(outside, path.join(folder, 'read', 'link'));
  giveAway(place);
  for (const [name, mode] of [
    [path.join(folder, 'read', 'only'), 0o555],
    [path.join(folder, 'read'), 0o555],
    [path.join(folder, 'closed'), 0],
    [outside, 0o555],
  ] as const)
    chmodSync(name, mode);
  await asOrdinaryUser(() => remove(path.basename(folder)));
  expect(existsSync(folder)).toBe(false);
  expect(statSync(outside).mode & 0o777).toBe(0o555);
});
