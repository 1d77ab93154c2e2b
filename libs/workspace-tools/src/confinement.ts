/**
 * Confinement: every path that a model names is resolved here, and every file and folder is opened here.
 *
 * C1  A path is resolved to its real path first; what lies outside the real task folder is refused, whatever the way out was.
 * C2  A name can be swapped for a symbolic link between that check and its use, so the check is repeated on what was opened:
 *     on Linux the kernel tells where an open descriptor really is, and names below a folder are used relative to its descriptor.
 * C3  A refusal never names where a link leads.
 */
import { constants, type Stats } from 'node:fs';
import { lstat, open, readlink, realpath, mkdir, stat, type FileHandle } from 'node:fs/promises';
import { basename, dirname, isAbsolute, join, relative, resolve, sep } from 'node:path';
import { Refusal, hasCode } from './refusal.js';

export interface ConfinedPath {
  /** Real path of the task folder. */
  readonly root: string;
  /** Real path of the file or folder; parts that do not exist yet are as asked. */
  readonly real: string;
  /** The same relative to the task folder, with `/`; `.` for the folder itself. This is what a model is shown. */
  readonly shown: string;
  /** Null when nothing exists there yet. */
  readonly stats: Stats | null;
}

/** Resolves `path` (relative, or absolute inside) within the task folder `root`; refuses NUL bytes and every way out. */
export async function confine(root: string, path: string): Promise<ConfinedPath> {
  if (path.includes('\0')) throw new Refusal('The path contains a NUL byte.');
  const realRoot = await realRootOf(root);
  const real = await realPathOfDeepest(requestedPath(root, realRoot, path), path);
  if (!isInside(realRoot, real)) throw outside(path);
  return { root: realRoot, real, shown: show(realRoot, real), stats: await statOrNull(real) };
}

/** The name of what a model means by `path`, links followed, relative to the task folder; `null` where no file tool would take it. */
export async function findRealName(root: string, path: string): Promise<string | null> {
  try {
    return (await confine(root, path)).shown;
  } catch {
    return null;
  }
}

/** `path` relative to the real root, as a model is shown it. */
export function show(root: string, path: string): string {
  return relative(root, path).split(sep).join('/') || '.';
}

export function isInside(root: string, path: string): boolean {
  return path === root || path.startsWith(root.endsWith(sep) ? root : root + sep);
}

/** Opens an existing regular file for reading (C2). The caller closes it. */
export async function openConfinedFile(target: ConfinedPath): Promise<FileHandle> {
  if (target.stats === null) throw new Refusal(`${target.shown} does not exist.`);
  if (target.stats.isDirectory()) throw new Refusal(`${target.shown} is a folder, not a file.`);
  return await openChecked(target.root, target.real, constants.O_RDONLY, async (handle) => {
    if (!(await handle.stat()).isFile()) throw new Refusal(`${target.shown} is not a regular file.`);
  });
}

/** An open folder; `at` names an entry of it in a way that a swapped link cannot redirect. */
export interface ConfinedFolder extends AsyncDisposable {
  at(name: string): string;
  /** A name for the folder itself, for reading its entries. */
  readonly self: string;
}

/** Opens the folder at the real path `real`; with `create`, its missing parts are made. The caller disposes of it. */
export async function openConfinedFolder(root: string, real: string, options: { readonly create: boolean }): Promise<ConfinedFolder> {
  if (!isInside(root, real)) throw outside(show(root, real));
  try {
    return await openFolder(root, real);
  } catch (error) {
    if (!options.create || real === root || !hasCode(error, 'ENOENT')) throw error;
  }
  await using parent = await openConfinedFolder(root, dirname(real), options);
  const name = parent.at(basename(real));
  await mkdir(name).catch((error: unknown) => {
    if (!hasCode(error, 'EEXIST')) throw error;
  });
  return await openFolder(root, name);
}

async function openFolder(root: string, path: string): Promise<ConfinedFolder> {
  const handle = await openChecked(root, path, constants.O_RDONLY | constants.O_DIRECTORY);
  const self = process.platform === 'linux' ? descriptor(handle) : path;
  return { self, at: (name) => join(self, name), [Symbol.asyncDispose]: async () => await handle.close() };
}

/** O_NONBLOCK: opening a named pipe must not wait for its other end. */
async function openChecked(root: string, path: string, flags: number, check?: (handle: FileHandle) => Promise<void>): Promise<FileHandle> {
  const handle = await open(path, flags | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  try {
    if (!isInside(root, await locate(handle, path))) throw new Refusal('The path left the task folder while it was being opened.');
    await check?.(handle);
    return handle;
  } catch (error) {
    await handle.close();
    throw error;
  }
}

/** Where an open descriptor really is; without /proc the path is resolved again and must still name the same file. */
async function locate(handle: FileHandle, path: string): Promise<string> {
  if (process.platform === 'linux') return await readlink(descriptor(handle));
  const real = await realpath(path);
  const [opened, named] = await Promise.all([handle.stat(), stat(real)]);
  return opened.ino === named.ino && opened.dev === named.dev ? real : '';
}

function descriptor(handle: FileHandle): string {
  return `/proc/self/fd/${handle.fd}`;
}

async function realRootOf(root: string): Promise<string> {
  if (!isAbsolute(root)) throw new Error('A task folder is an absolute path');
  try {
    return await realpath(root);
  } catch {
    throw new Refusal('The task folder does not exist or cannot be reached.');
  }
}

function requestedPath(root: string, realRoot: string, path: string): string {
  const requested = resolve(root, path);
  if (isInside(resolve(root), requested)) return join(realRoot, relative(root, requested));
  if (isInside(realRoot, requested)) return requested;
  throw outside(path);
}

/** The real path of the deepest part that exists, joined with the parts that do not. */
async function realPathOfDeepest(path: string, asked: string): Promise<string> {
  try {
    return await realpath(path);
  } catch (error) {
    if (hasCode(error, 'ENOTDIR')) throw new Refusal(`A part of the path ${asked} is a file, not a folder.`);
    if (hasCode(error, 'ELOOP')) throw new Refusal(`${asked} leads through symbolic links in a circle.`);
    if (!hasCode(error, 'ENOENT') || dirname(path) === path) throw error;
  }
  if ((await lstatOrNull(path)) !== null) throw new Refusal(`${asked} leads through a symbolic link whose target is missing.`);
  return join(await realPathOfDeepest(dirname(path), asked), basename(path));
}

async function lstatOrNull(path: string): Promise<Stats | null> {
  return await lstat(path).catch(nullWhenMissing);
}

async function statOrNull(path: string): Promise<Stats | null> {
  return await stat(path).catch(nullWhenMissing);
}

function nullWhenMissing(error: unknown): null {
  if (hasCode(error, 'ENOENT', 'ENOTDIR')) return null;
  throw error;
}

function outside(path: string): Refusal {
  return new Refusal(`${path} is outside the task folder. Use a path inside it, relative to it.`);
}
