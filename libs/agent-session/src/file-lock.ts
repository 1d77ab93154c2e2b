import { DatabaseSync } from 'node:sqlite';

/** A lock of the operating system on a file: it ends with the process, however that ends. */
export interface FileLock {
  readonly release: () => void;
}

/**
 * Takes the lock of a file, which is made where it is missing; `null` when somebody holds it, in this process or another.
 *
 * Only SQLite may open the file: closing any other descriptor of it gives up the locks that this process has on it (POSIX), while
 * SQLite counts its own.
 */
export function lockFile(file: string): FileLock | null {
  const lock = new DatabaseSync(file);
  try {
    lock.exec('BEGIN EXCLUSIVE');
  } catch {
    lock.close();
    return null;
  }
  return { release: () => lock.isOpen && lock.close() };
}
