/** A copy of a folder that shares its blocks where the file system can (copy-on-write), bounded in entries and bytes. */
import { constants } from 'node:fs';
import { copyFile, mkdir, symlink, utimes } from 'node:fs/promises';
import path from 'node:path';
import { type FolderEntries, type FolderEntry, walkEntries } from './folder-entries.js';
import { OverlayRefusal } from './overlay-refusal.js';

export interface OverlayLimits {
  readonly entries: number;
  readonly bytes: number;
}

export interface FolderCopy {
  /** Real paths. */
  readonly from: string;
  readonly to: string;
  readonly limits: OverlayLimits;
  readonly signal: AbortSignal;
}

/** Copies everything, `.git` too; returns what was copied, as it stood before. Throws `OverlayRefusal`, or what `signal` was aborted with. */
export async function copyFolder({ from, to, limits, signal }: FolderCopy): Promise<FolderEntries> {
  const entries = new Map<string, FolderEntry>();
  let bytes = 0;
  await mkdir(to, { mode: 0o700 });
  for await (const [name, entry] of walkEntries(from, signal)) {
    entries.set(name, entry);
    bytes += entry.bytes;
    if (entries.size > limits.entries || bytes > limits.bytes) throw new OverlayRefusal('too_large');
    await copyEntry({ from, to }, name, entry);
  }
  // Last and from below: what is put into a folder changes its time.
  for (const [name, { kind, modifiedAt }] of [...entries].reverse())
    if (kind === 'folder') await utimes(path.join(to, name), modifiedAt, modifiedAt);
  return entries;
}

async function copyEntry({ from, to }: Pick<FolderCopy, 'from' | 'to'>, name: string, entry: FolderEntry): Promise<void> {
  const target = path.join(to, name);
  switch (entry.kind) {
    case 'folder':
      // Its owner can empty it again, whatever the rights of the original are.
      await mkdir(target, { mode: entry.mode | 0o700 });
      return;
    case 'link':
      return symlink(linkTarget({ from, to }, name, entry.target), target);
    case 'file':
      await copyFile(path.join(from, name), target, constants.COPYFILE_FICLONE | constants.COPYFILE_EXCL);
      return utimes(target, entry.modifiedAt, entry.modifiedAt);
  }
}

/** A link within the folder leads into the copy, every other one to where it led. */
function linkTarget({ from, to }: Pick<FolderCopy, 'from' | 'to'>, name: string, target: string): string {
  const leadsTo = path.resolve(from, path.dirname(name), target);
  const within = path.relative(from, leadsTo);
  const isInside = within !== '..' && !within.startsWith(`..${path.sep}`) && !path.isAbsolute(within);
  if (!isInside) return leadsTo;
  return path.isAbsolute(target) ? path.join(to, within) : target;
}
