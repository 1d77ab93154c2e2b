/**
 * The workspace root that this machine reaches: a folder that holds task folders, and in it a marker file that says which root it is
 * (operations.md, Task folders on several machines). Every machine that mounts the folder reads the same marker.
 */
import { randomUUID } from 'node:crypto';
import { linkSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { hostname } from 'node:os';
import path from 'node:path';
import { makeFolder, StartupError } from '@echelon/embedded-postgres';
import { newId, type WorkspaceRoot } from '@echelon/persistence';
import type { Config } from './config.js';

const MARKER = '.echelon-root';
const ID = /^[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}$/;

/**
 * Makes the folder where it is missing, and its marker where it has none: of processes that do so at once one wins, and all read what it
 * wrote. A marker from elsewhere is kept as it is. Throws `StartupError`, one sentence.
 */
export function openWorkspaceRoot({ workspaceRoot }: Pick<Config, 'workspaceRoot'>): WorkspaceRoot {
  const marker = path.join(workspaceRoot, MARKER);
  try {
    makeFolder(workspaceRoot);
    const id = readMarker(marker) ?? createMarker(marker);
    return { id, host: hostname(), path: workspaceRoot };
  } catch (cause) {
    if (cause instanceof StartupError) throw cause;
    const message = `This account may not write to ${workspaceRoot}: correct its owner, or set ECHELON_WORKSPACE_ROOT to another folder.`;
    throw new StartupError('no_permission', message, { cause });
  }
}

/** The root's id; `null` where there is no marker. */
function readMarker(marker: string): string | null {
  const text = readIfThere(marker)?.trim();
  if (text === undefined) return null;
  if (ID.test(text)) return text;
  throw new StartupError('marker_unreadable', `${marker} names no workspace root: restore the file, or delete it to begin a new root.`);
}

function readIfThere(file: string): string | undefined {
  try {
    return readFileSync(file, 'utf8');
  } catch (error) {
    if (isCode(error, 'ENOENT')) return undefined;
    throw error;
  }
}

/** Written beside and linked, so that nobody reads a part and nobody replaces another's. */
function createMarker(marker: string): string {
  const draft = `${marker}.${randomUUID()}`;
  writeFileSync(draft, `${newId()}\n`, { flag: 'wx', flush: true });
  try {
    linkSync(draft, marker);
  } catch (error) {
    if (!isCode(error, 'EEXIST')) throw error;
  } finally {
    rmSync(draft);
  }
  const id = readMarker(marker);
  if (id === null) throw new Error(`${marker} vanished while it was created`);
  return id;
}

const isCode = (error: unknown, code: string): boolean => (error as NodeJS.ErrnoException).code === code;
