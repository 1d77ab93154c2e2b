import { existsSync, mkdirSync } from 'node:fs';
import path from 'node:path';

/**
 * Creates a folder with the folders above it. Node's own recursive creation never returns where the file system takes no folders
 * although the one above exists, as in /proc; here that is an error.
 */
export function makeFolder(folder: string, mode = 0o777): void {
  if (existsSync(folder)) return;
  if (path.dirname(folder) !== folder) makeFolder(path.dirname(folder));
  mkdirSync(folder, { mode });
}
