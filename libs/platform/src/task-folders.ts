/** Task folders below the workspace root, as the purge of deleted tasks removes them. */
import { rm } from 'node:fs/promises';
import path from 'node:path';
import type { TaskFolders } from '@echelon/orchestration';
import type { WorkspaceRoot } from '@echelon/persistence';

/** A folder's name is its first task's id; nothing else is ever removed. */
const NAME = /^[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}$/;

/** Removes folders of this root only: a link is removed, never what it leads to. Throws for a name that is no task's id. */
export function createTaskFolders({ id, path: root }: Pick<WorkspaceRoot, 'id' | 'path'>): TaskFolders {
  return {
    rootId: id,
    remove: async (folder) => {
      if (!NAME.test(folder)) throw new Error('the folder of a task is not named by an id');
      await rm(path.join(root, folder), { recursive: true, force: true });
    },
  };
}
