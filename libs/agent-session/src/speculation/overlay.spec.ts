import { execFileSync } from 'node:child_process';
import {
  chmodSync,
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, expect, test } from '@jest/globals';
import type { OverlayLimits } from './copy-folder.js';
import { Overlay } from './overlay.js';

let base: string;
let folder: string;
let overlays: string;

beforeEach(() => {
  base = mkdtempSync(path.join(tmpdir(), 'echelon-overlay-'));
  folder = path.join(base, 'work');
  overlays = path.join(base, 'overlays');
  mkdirSync(path.join(folder, 'src'), { recursive: true });
  writeFileSync(path.join(folder, 'src', 'a.txt'), 'a');
  writeFileSync(path.join(folder, 'run.sh'), 'true', { mode: 0o755 });
  writeFileSync(path.join(base, 'outside.txt'), 'outside');
});
afterEach(() => rmSync(base, { recursive: true, force: true }));

const place = (limits?: OverlayLimits) => ({
  folder,
  overlays,
  signal: new AbortController().signal,
  ...(limits === undefined ? {} : { limits }),
});

async function open(): Promise<Overlay> {
  const overlay = await Overlay.open(place());
  if ('refused' in overlay) throw new Error(overlay.refused);
  return overlay;
}

const refusal = async (limits?: OverlayLimits) => {
  const overlay = await Overlay.open(place(limits));
  return 'refused' in overlay ? overlay.refused : null;
};

test('what was created, changed and deleted comes to the folder, and nothing of the overlay stays', async () => {
  const overlay = await open();
  mkdirSync(path.join(overlay.root, 'new'));
  writeFileSync(path.join(overlay.root, 'new', 'b.txt'), 'b');
  writeFileSync(path.join(overlay.root, 'run.sh'), 'false');
  rmSync(path.join(overlay.root, 'src'), { recursive: true });
  expect(await overlay.changes()).toEqual([
    { path: path.join('src', 'a.txt'), change: 'deleted' },
    { path: 'src', change: 'deleted' },
    { path: 'new', change: 'created' },
    { path: 'run.sh', change: 'changed' },
    { path: path.join('new', 'b.txt'), change: 'created' },
  ]);
  expect(readFileSync(path.join(folder, 'run.sh'), 'utf8')).toBe('true');

  expect(await overlay.accept()).toBe(true);
  await overlay.close();
  expect(readdirSync(folder, { recursive: true }).sort()).toEqual(['new', path.join('new', 'b.txt'), 'run.sh']);
  expect([readFileSync(path.join(folder, 'run.sh'), 'utf8'), statSync(path.join(folder, 'run.sh')).mode & 0o777]).toEqual(['false', 0o755]);
  expect(readdirSync(overlays)).toEqual([]);
});

test.each<[string, () => void]>([
  ['a file that it changed', () => writeFileSync(path.join(folder, 'src', 'a.txt'), 'x')],
  ['a file that it made', () => writeFileSync(path.join(folder, 'b.txt'), 'x')],
  ['the rights of a file', () => chmodSync(path.join(folder, 'run.sh'), 0o700)],
  ['the folder itself', () => rmSync(folder, { recursive: true })],
])('nothing comes to a folder where somebody else changed %s', async (_, change) => {
  const overlay = await open();
  writeFileSync(path.join(overlay.root, 'src', 'a.txt'), 'b');
  writeFileSync(path.join(overlay.root, 'b.txt'), 'b');
  change();
  const before = existsSync(folder) ? readdirSync(folder, { recursive: true }) : null;
  let committed = false;
  expect(await overlay.accept(() => (committed = true))).toBe(false);
  expect([committed, existsSync(folder) ? readdirSync(folder, { recursive: true }) : null]).toEqual([false, before]);
  await overlay.close();
});

test('nothing comes to the folder when its records cannot be stored', async () => {
  const overlay = await open();
  writeFileSync(path.join(overlay.root, 'src', 'a.txt'), 'b');
  const full = () => {
    throw new Error('The disk is full.');
  };
  await expect(overlay.accept(full)).rejects.toThrow('The disk is full.');
  expect([readFileSync(path.join(folder, 'src', 'a.txt'), 'utf8'), readdirSync(folder).sort()]).toEqual(['a', ['run.sh', 'src']]);
  await overlay.close();
});

test('links are copied as links: within the folder they lead into the copy, others where they led', async () => {
  symlinkSync(path.join(folder, 'src', 'a.txt'), path.join(folder, 'absolute'));
  symlinkSync('src', path.join(folder, 'relative'));
  symlinkSync('../outside.txt', path.join(folder, 'out'));
  const overlay = await open();
  const targets = ['absolute', 'relative', 'out'].map((name) => readlinkSync(path.join(overlay.root, name)));
  expect(targets).toEqual([path.join(overlay.root, 'src', 'a.txt'), 'src', path.join(base, 'outside.txt')]);
  expect([await overlay.changes(), await overlay.accept()]).toEqual([[], true]);
  expect(lstatSync(path.join(folder, 'relative')).isSymbolicLink()).toBe(true);
  await overlay.close();
});

test('a repository is copied whole, so that git reads in the copy what it reads in the folder', async () => {
  const git = (cwd: string, ...args: string[]) =>
    execFileSync('git', ['-c', 'user.name=A', '-c', 'user.email=a@example.org', ...args], { cwd, encoding: 'utf8' });
  git(folder, 'init', '--quiet');
  git(folder, 'add', '.');
  git(folder, 'commit', '--quiet', '-m', 'First');
  writeFileSync(path.join(folder, 'src', 'a.txt'), 'changed');
  const overlay = await open();
  for (const args of [['status', '--porcelain'], ['diff'], ['log']]) expect(git(overlay.root, ...args)).toBe(git(folder, ...args));
  await overlay.close();
});

test('a folder that is too large, holds a pipe, or would hold the overlay has none, and nothing is left', async () => {
  expect(await refusal({ entries: 2, bytes: 1_000 })).toBe('too_large');
  expect(await refusal({ entries: 3, bytes: 4 })).toBe('too_large');
  expect(await refusal({ entries: 3, bytes: 5 })).toBeNull();
  const kept = readdirSync(overlays);
  expect(kept).toHaveLength(1);
  execFileSync('mkfifo', [path.join(folder, 'pipe')]);
  expect(await refusal()).toBe('special_file');
  expect(readdirSync(overlays)).toEqual(kept);
  overlays = path.join(folder, 'overlays');
  expect(await refusal()).toBe('nested');
  expect(readdirSync(overlays)).toEqual([]);
});

test('an abort in the middle of copying leaves nothing', async () => {
  const controller = new AbortController();
  const opening = Overlay.open({ ...place(), signal: controller.signal });
  controller.abort();
  await expect(opening).rejects.toMatchObject({ name: 'AbortError' });
  expect(readdirSync(overlays)).toEqual([]);
});
