/** What stands in a folder, noted so that every change of it is seen. A symbolic link is an entry of its own and is never followed. */
import type { BigIntStats } from 'node:fs';
import { lstat, readdir, readlink } from 'node:fs/promises';
import path from 'node:path';
import { OverlayRefusal } from './overlay-refusal.js';

export interface FolderEntry {
  readonly kind: 'file' | 'folder' | 'link';
  readonly mode: number;
  readonly bytes: number;
  readonly modifiedAt: Date;
  readonly uid: number;
  readonly gid: number;
  /** Where a link leads; empty for the rest. */
  readonly target: string;
  /** Becomes another one when the entry is written, replaced, or given other rights. */
  readonly mark: string;
}

/** By path relative to the folder; a folder stands before what is in it. */
export type FolderEntries = ReadonlyMap<string, FolderEntry>;

/** Throws `OverlayRefusal` at what is neither file, folder nor link. */
export async function readEntries(root: string, signal?: AbortSignal): Promise<FolderEntries> {
  const entries = new Map<string, FolderEntry>();
  for await (const [name, entry] of walkEntries(root, signal)) entries.set(name, entry);
  return entries;
}

export async function* walkEntries(root: string, signal?: AbortSignal): AsyncGenerator<readonly [string, FolderEntry]> {
  const folders = [''];
  for (let folder = folders.pop(); folder !== undefined; folder = folders.pop()) {
    for (const name of (await readdir(path.join(root, folder))).sort()) {
      signal?.throwIfAborted();
      const below = path.join(folder, name);
      const entry = await readEntry(path.join(root, below));
      yield [below, entry];
      if (entry.kind === 'folder') folders.push(below);
    }
  }
}

async function readEntry(file: string): Promise<FolderEntry> {
  const stats = await lstat(file, { bigint: true });
  const kind = kindOf(stats);
  const target = kind === 'link' ? await readlink(file) : '';
  const mode = Number(stats.mode & 0o777n);
  return {
    kind,
    mode,
    bytes: kind === 'file' ? Number(stats.size) : 0,
    modifiedAt: stats.mtime,
    uid: Number(stats.uid),
    gid: Number(stats.gid),
    target,
    // The times of a folder change with what is in it, which has entries of its own.
    mark: kind === 'folder' ? `${kind} ${mode}` : [kind, mode, stats.ino, stats.size, stats.mtimeNs, stats.ctimeNs, target].join(' '),
  };
}

function kindOf(stats: BigIntStats): FolderEntry['kind'] {
  if (stats.isFile()) return 'file';
  if (stats.isDirectory()) return 'folder';
  if (stats.isSymbolicLink()) return 'link';
  throw new OverlayRefusal('special_file');
}
