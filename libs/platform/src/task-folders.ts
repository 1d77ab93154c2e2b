/** Task folders below the workspace root, as the purge of deleted tasks removes them. */
import { chmod, lstat, readdir, rm } from 'node:fs/promises';
import path from 'node:path';
import type { TaskFolders } from '@echelon/orchestration';
import type { WorkspaceRoot } from '@echelon/persistence';

/** A folder's name is its first task's id; nothing else is ever removed. */
const NAME = /^[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}$/;

/**
 * Removes folders of this root only: a link is removed, never what it leads to; what is in a folder without leave to write goes too.
 * Throws for a name that is no task's id.
 */
export function createTaskFolders({ id, path: root }: Pick<WorkspaceRoot, 'id' | 'path'>): TaskFolders {
  return {
    rootId: id,
    remove: async (folder) => {
      if (!NAME.test(folder)) throw new Error('the folder of a task is not named by an id');
      const place = path.join(root, folder);
      try {
        await removeAll(place);
      } catch (error) {
        if (!isDenied(error)) throw error;
        await openUp(place);
        await removeAll(place);
      }
    },
  };
}

function removeAll(place: string): Promise<void> {
  return rm(place, { recursive: true, force: true });
}

function isDenied(error: unknown): boolean {
  const { code } = error as NodeJS.ErrnoException;
  return code === 'EACCES' || code === 'EPERM';
}

/** Lets the owner change the directory and those in it: commands leave some read-only. Links are not followed. */
async function openUp(directory: string): Promise<void> {
  const found = await lstat(directory);
  if (!found.isDirectory()) return;
  await chmod(directory, found.mode | 0o700);
  for (const entry of await readdir(directory, { withFileTypes: true }))
    if (entry.isDirectory()) await openUp(path.join(directory, entry.name));
}
