/**
 * A copy of a folder that work can be tried on, thrown away or brought back whole.
 *
 * O1  Until `accept` nothing in the folder changes.
 * O2  `accept` changes the folder only when everything in it is as it was copied: what was read ahead is then what would be read now.
 * O3  Its files end with it; those of a process that died are found by their lock, which nobody holds, and go at the next start.
 */
import { randomUUID } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, rmSync } from 'node:fs';
import { realpath, rm } from 'node:fs/promises';
import path from 'node:path';
import { type FileLock, lockFile } from '../file-lock.js';
import { compareEntries, type FileChange, stageChanges } from './apply-changes.js';
import { copyFolder, type OverlayLimits } from './copy-folder.js';
import { type FolderEntries, readEntries } from './folder-entries.js';
import { OverlayRefusal, type OverlayRefusalReason } from './overlay-refusal.js';

const LIMITS: OverlayLimits = { entries: 20_000, bytes: 512 * 1024 ** 2 };
const LOCK = 'lock';

export interface OverlayPlace {
  /** The folder to copy, absolute. */
  readonly folder: string;
  /** Where overlays stand; made where it is missing. */
  readonly overlays: string;
  readonly signal: AbortSignal;
  readonly limits?: OverlayLimits;
}

interface OverlayParts {
  readonly home: string;
  readonly lock: FileLock;
  readonly folder: string;
  readonly root: string;
  readonly copied: FolderEntries;
  readonly base: FolderEntries;
}

export class Overlay {
  private constructor(private readonly parts: OverlayParts) {}

  /** Copies the folder. Throws what `signal` was aborted with; in every end but success nothing is left. */
  static async open({
    folder,
    overlays,
    signal,
    limits = LIMITS,
  }: OverlayPlace): Promise<Overlay | { readonly refused: OverlayRefusalReason }> {
    const home = path.join(overlays, randomUUID());
    let lock: FileLock | null = null;
    try {
      const from = await realpath(folder);
      mkdirSync(home, { recursive: true, mode: 0o700 });
      const root = path.join(await realpath(home), 'folder');
      if (root.startsWith(path.join(from, path.sep))) throw new OverlayRefusal('nested');
      lock = lockFile(path.join(home, LOCK));
      if (lock === null) throw new OverlayRefusal('cannot_copy');
      const copied = await copyFolder({ from, to: root, limits, signal });
      return new Overlay({ home, lock, folder: from, root, copied, base: await readEntries(root, signal) });
    } catch (error) {
      await remove(home, lock);
      signal.throwIfAborted();
      return { refused: refusalOf(error) };
    }
  }

  /** Real path of the copy. */
  get root(): string {
    return this.parts.root;
  }

  /** Real path of the folder. */
  get folder(): string {
    return this.parts.folder;
  }

  async changes(): Promise<readonly FileChange[]> {
    return compareEntries(this.parts.base, await readEntries(this.root));
  }

  /**
   * Brings the changes to the folder; `commit` is called when nothing can refuse them any more, before the first one. `false`: the
   * folder is not as it was copied; nothing was changed and `commit` was not called.
   */
  async accept(commit: () => void = () => undefined): Promise<boolean> {
    const { folder, root, base, copied } = this.parts;
    if (!(await this.isCurrent())) return false;
    const after = await readEntries(root);
    const changes = compareEntries(base, after);
    if (changes.length === 0) {
      commit();
      return true;
    }
    const staged = await stageChanges({ changes, from: root, to: folder, after, before: copied });
    try {
      if (!(await this.isCurrent(staged.folder))) return false;
      commit();
      await staged.apply();
      return true;
    } finally {
      await staged.close();
    }
  }

  async close(): Promise<void> {
    await remove(this.parts.home, this.parts.lock);
  }

  /** A folder that cannot be read any more is not as it was. */
  private async isCurrent(except?: string): Promise<boolean> {
    try {
      const now = await readEntries(this.folder);
      const mine = (name: string): boolean => except !== undefined && (name === except || name.startsWith(except + path.sep));
      return compareEntries(this.parts.copied, new Map([...now].filter(([name]) => !mine(name)))).length === 0;
    } catch {
      return false;
    }
  }
}

/** Removes what processes that died left in the folder of overlays. */
export function removeStaleOverlays(overlays: string): void {
  if (!existsSync(overlays)) return;
  for (const name of readdirSync(overlays)) {
    const home = path.join(overlays, name);
    const lock = lockStale(home);
    if (lock === null) continue;
    rmSync(home, { recursive: true, force: true });
    lock.release();
  }
}

/** `null` also when another process that starts has removed it meanwhile. */
function lockStale(home: string): FileLock | null {
  try {
    return lockFile(path.join(home, LOCK));
  } catch {
    return null;
  }
}

async function remove(home: string, lock: FileLock | null): Promise<void> {
  await rm(home, { recursive: true, force: true });
  lock?.release();
}

function refusalOf(error: unknown): OverlayRefusalReason {
  if (error instanceof OverlayRefusal) return error.reason;
  if (error instanceof Error && 'code' in error) return 'cannot_copy';
  throw error;
}
