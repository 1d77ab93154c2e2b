import { randomUUID } from 'node:crypto';
import { constants } from 'node:fs';
import { access, chown, open, rename, unlink } from 'node:fs/promises';
import { basename, dirname } from 'node:path';
import { openConfinedFolder, type ConfinedPath } from './confinement.js';
import { Refusal, hasCode } from './refusal.js';

/**
 * Replaces or creates a file so that every reader sees the old content or the new one, never a part: written beside it, then renamed.
 * Missing folders are made; permissions and owner of an existing file are kept; a hard link is not written through.
 */
export async function writeAtomically(target: ConfinedPath, content: string): Promise<void> {
  await requireReplaceable(target);
  await using folder = await openConfinedFolder(target.root, dirname(target.real), { create: true });
  const temporary = folder.at(`.${randomUUID()}.tmp`);
  try {
    await writeNew(temporary, content, target);
    await rename(temporary, folder.at(basename(target.real)));
  } catch (error) {
    await unlink(temporary).catch((cause: unknown) => {
      if (!hasCode(cause, 'ENOENT')) throw cause;
    });
    throw error;
  }
}

async function requireReplaceable({ real, root, shown, stats }: ConfinedPath): Promise<void> {
  if (real === root || stats?.isDirectory()) throw new Refusal(`${shown} is a folder, not a file.`);
  if (stats === null) return;
  if (!stats.isFile()) throw new Refusal(`${shown} is not a regular file.`);
  await access(real, constants.W_OK);
}

async function writeNew(temporary: string, content: string, { stats }: ConfinedPath): Promise<void> {
  const flags = constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | constants.O_NOFOLLOW;
  await using handle = await open(temporary, flags, 0o666);
  await handle.writeFile(content, 'utf8');
  if (stats === null) return;
  const { uid, gid } = await handle.stat();
  if (uid !== stats.uid || gid !== stats.gid) await chown(temporary, stats.uid, stats.gid).catch(ignoreMissingRight);
  await handle.chmod(stats.mode & 0o777);
}

/** Only root may give a file away; for everyone else the file is simply theirs now. */
function ignoreMissingRight(error: unknown): void {
  if (!hasCode(error, 'EPERM')) throw error;
}
