/** Brings what changed in a copy back to its folder: each file at once, by a rename, from a staging folder beside the files. */
import { randomUUID } from 'node:crypto';
import { constants } from 'node:fs';
import { chown, copyFile, mkdir, mkdtemp, rename, rm, rmdir, symlink, unlink } from 'node:fs/promises';
import path from 'node:path';
import type { FolderEntries, FolderEntry } from './folder-entries.js';

/** A path relative to the folder, with what became of it. */
export interface FileChange {
  readonly path: string;
  readonly change: 'created' | 'changed' | 'deleted';
}

/** In the order in which a folder can be brought to `after`: what goes from below, then what comes from above. */
export function compareEntries(before: FolderEntries, after: FolderEntries): readonly FileChange[] {
  const deleted = [...before.keys()].filter((name) => after.get(name)?.kind !== before.get(name)?.kind).reverse();
  const written = [...after].flatMap(([name, { kind, mark }]): FileChange[] => {
    const old = before.get(name);
    if (old?.kind !== kind) return [{ path: name, change: 'created' }];
    return old.mark === mark ? [] : [{ path: name, change: 'changed' }];
  });
  return [...deleted.map((name): FileChange => ({ path: name, change: 'deleted' })), ...written];
}

export interface StagedChanges {
  readonly apply: () => Promise<void>;
  /** The staging folder's name, while it stands. */
  readonly folder: string;
  /** Takes the staging folder away. */
  readonly close: () => Promise<void>;
}

export interface ChangesToStage {
  readonly changes: readonly FileChange[];
  readonly from: string;
  readonly to: string;
  /** What stands in `from`, and what stood in `to`. */
  readonly after: FolderEntries;
  readonly before: FolderEntries;
}

/** Copies what was written next to where it belongs, so that a full disk is met before anything has changed. */
export async function stageChanges({ changes, from, to, after, before }: ChangesToStage): Promise<StagedChanges> {
  const folder = await mkdtemp(path.join(to, '.echelon-'));
  const close = (): Promise<void> => rm(folder, { recursive: true, force: true });
  const steps: (() => Promise<void>)[] = [];
  try {
    for (const { path: name, change } of changes) {
      const target = path.join(to, name);
      const entry = after.get(name);
      if (change === 'deleted' || entry === undefined) steps.push(() => remove(target, before.get(name)));
      else if (entry.kind === 'folder') steps.push(() => makeFolder(target, entry.mode));
      else {
        const staged = path.join(folder, randomUUID());
        await stage({ from: path.join(from, name), staged, entry, old: before.get(name) });
        steps.push(() => rename(staged, target));
      }
    }
  } catch (error) {
    await close();
    throw error;
  }
  return {
    folder: path.basename(folder),
    close,
    apply: async () => {
      for (const step of steps) await step();
    },
  };
}

interface Staging {
  readonly from: string;
  readonly staged: string;
  readonly entry: FolderEntry;
  /** What it takes the place of: its owner stays. */
  readonly old: FolderEntry | undefined;
}

async function stage({ from, staged, entry, old }: Staging): Promise<void> {
  if (entry.kind === 'link') return symlink(entry.target, staged);
  await copyFile(from, staged, constants.COPYFILE_FICLONE | constants.COPYFILE_EXCL);
  if (old === undefined || (old.uid === entry.uid && old.gid === entry.gid)) return;
  await chown(staged, old.uid, old.gid).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== 'EPERM') throw error;
  });
}

async function makeFolder(target: string, mode: number): Promise<void> {
  await mkdir(target, { mode }).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== 'EEXIST') throw error;
  });
}

function remove(target: string, old: FolderEntry | undefined): Promise<void> {
  return old?.kind === 'folder' ? rmdir(target) : unlink(target);
}
