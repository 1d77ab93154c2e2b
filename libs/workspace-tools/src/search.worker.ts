/**
 * The thread in which a search runs, so that a pattern that takes exponential time can be stopped from outside.
 * Self-contained: it is started as a file, from sources as well as from the build. It imports Node only.
 */
import { closeSync, constants, fstatSync, openSync, readFileSync, readlinkSync } from 'node:fs';
import { join, sep } from 'node:path';
import { parentPort, workerData } from 'node:worker_threads';
import type { FoundLine, SearchJob, SearchMessage } from './search.js';

const job = workerData as SearchJob;
const matches = matcherOf(job);
let remaining = job.limit;

for (const path of job.files) {
  if (remaining === 0) break;
  const text = readText(path);
  if (text === null) parentPort?.postMessage({ type: 'skipped' } satisfies SearchMessage);
  const lines = text === null ? [] : searchText(text);
  if (lines.length > 0) parentPort?.postMessage({ type: 'found', file: { path, lines } } satisfies SearchMessage);
}
parentPort?.postMessage({ type: 'done', cut: remaining === 0 } satisfies SearchMessage);

function matcherOf({ pattern, literal, caseSensitive }: SearchJob): (line: string) => number {
  if (!literal) {
    const expression = new RegExp(pattern.source, pattern.flags);
    return (line) => line.search(expression);
  }
  if (caseSensitive) return (line) => line.indexOf(pattern.source);
  const wanted = pattern.source.toLowerCase();
  return (line) => line.toLowerCase().indexOf(wanted);
}

/** Null for binary files, files over the size limit and everything that is no regular file inside the task folder. */
function readText(path: string): string | null {
  let descriptor: number;
  try {
    descriptor = openSync(join(job.root, path), constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  } catch {
    return null;
  }
  try {
    const stats = fstatSync(descriptor);
    if (!stats.isFile() || stats.size > job.maxFileBytes || !isInsideRoot(descriptor)) return null;
    const bytes = readFileSync(descriptor);
    return bytes.subarray(0, 8192).includes(0) ? null : bytes.toString('utf8').replaceAll('\0', '\uFFFD');
  } finally {
    closeSync(descriptor);
  }
}

/** A folder may have been swapped for a link since the walk; the kernel says what was really opened. */
function isInsideRoot(descriptor: number): boolean {
  return process.platform !== 'linux' || readlinkSync(`/proc/self/fd/${descriptor}`).startsWith(job.root + sep);
}

function searchText(text: string): FoundLine[] {
  const lines = text.split('\n');
  const found = new Map<number, FoundLine>();
  for (let index = 0; index < lines.length && remaining > 0; index += 1) {
    const line = (lines[index] ?? '').replace(/\r$/, '');
    const at = index === lines.length - 1 && line === '' ? -1 : matches(line);
    if (at === -1) continue;
    remaining -= 1;
    addContext(found, lines, index);
    found.set(index, { number: index + 1, text: cutAround(line, at), isMatch: true });
  }
  return [...found.values()].sort((a, b) => a.number - b.number);
}

function addContext(found: Map<number, FoundLine>, lines: readonly string[], index: number): void {
  const last = Math.min(lines.length - 1, index + job.context);
  for (let near = Math.max(0, index - job.context); near <= last; near += 1) {
    if (!found.has(near)) found.set(near, { number: near + 1, text: cutAround((lines[near] ?? '').replace(/\r$/, ''), 0), isMatch: false });
  }
}

/** Long lines are cut around the match. */
function cutAround(line: string, at: number): string {
  if (line.length <= job.lineCharacters) return line;
  const from = Math.max(0, Math.min(at - job.lineCharacters / 4, line.length - job.lineCharacters));
  return `${from > 0 ? '…' : ''}${line.slice(from, from + job.lineCharacters).toWellFormed()}…`;
}
