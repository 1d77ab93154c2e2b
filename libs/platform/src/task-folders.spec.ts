import { existsSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
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
