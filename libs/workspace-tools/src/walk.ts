/** Walks a folder of the workspace in a fixed order, without following symbolic links. */
import type { Dirent } from 'node:fs';
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { openConfinedFolder, show, type ConfinedPath } from './confinement.js';
import { WORKSPACE_LIMITS } from './limits.js';
import { hasCode } from './refusal.js';

/** Folders that are never entered: version control and installed packages. */
const IGNORED_FOLDERS: ReadonlySet<string> = new Set(['.git', '.hg', '.svn', 'node_modules']);

export interface WalkedEntry {
  /** Relative to the task folder, with `/`. */
  readonly path: string;
  /** Relative to the folder where the walk began: what a glob is matched against. */
  readonly below: string;
  readonly kind: 'file' | 'folder' | 'link' | 'other';
}

export interface Walk {
  readonly entries: readonly WalkedEntry[];
  /** `walkEntries` were seen and the rest was left out. */
  readonly cut: boolean;
}

/** Everything below `start`, folders before what is in them, sorted by name; an unreadable folder counts as empty. */
export async function walk(start: ConfinedPath, signal: AbortSignal): Promise<Walk> {
  const entries: WalkedEntry[] = [];
  const pending: string[] = [start.real];
  for (let folder = pending.pop(); folder !== undefined; folder = pending.pop()) {
    signal.throwIfAborted();
    const children = await listFolder(start.root, folder).catch(emptyWhenUnreadable);
    if (entries.length + children.length > WORKSPACE_LIMITS.walkEntries) return { entries, cut: true };
    for (const child of children) entries.push({ ...child, path: show(start.root, child.path), below: show(start.real, child.path) });
    const folders = children.filter(({ kind, name }) => kind === 'folder' && !IGNORED_FOLDERS.has(name));
    pending.push(...folders.map(({ path }) => path).reverse());
  }
  return { entries, cut: false };
}

export interface FolderEntry {
  readonly name: string;
  /** Absolute and real. */
  readonly path: string;
  readonly kind: WalkedEntry['kind'];
}

/** The entries of one folder, sorted by name. */
export async function listFolder(root: string, folder: string): Promise<FolderEntry[]> {
  await using opened = await openConfinedFolder(root, folder, { create: false });
  const entries = await readdir(opened.self, { withFileTypes: true });
  return entries.map((entry) => ({ name: entry.name, path: join(folder, entry.name), kind: kindOf(entry) })).sort(byName);
}

function byName(a: FolderEntry, b: FolderEntry): number {
  return a.name < b.name ? -1 : 1;
}

function kindOf(entry: Dirent): WalkedEntry['kind'] {
  if (entry.isFile()) return 'file';
  if (entry.isDirectory()) return 'folder';
  return entry.isSymbolicLink() ? 'link' : 'other';
}

function emptyWhenUnreadable(error: unknown): FolderEntry[] {
  if (hasCode(error, 'EACCES', 'EPERM', 'ENOENT', 'ENOTDIR', 'ELOOP')) return [];
  throw error;
}
