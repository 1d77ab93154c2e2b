/** Runs one search in a thread of its own, under a time limit. */
import { Worker } from 'node:worker_threads';

export interface SearchJob {
  /** Real path of the task folder. */
  readonly root: string;
  /** Relative to `root`. */
  readonly files: readonly string[];
  readonly pattern: { readonly source: string; readonly flags: string };
  readonly literal: boolean;
  readonly caseSensitive: boolean;
  /** Lines shown around a match. */
  readonly context: number;
  /** Matching lines at most. */
  readonly limit: number;
  readonly maxFileBytes: number;
  readonly lineCharacters: number;
}

export interface FoundLine {
  readonly number: number;
  readonly text: string;
  readonly isMatch: boolean;
}

export interface FoundFile {
  readonly path: string;
  readonly lines: readonly FoundLine[];
}

export type SearchMessage =
  { readonly type: 'found'; readonly file: FoundFile } | { readonly type: 'skipped' } | { readonly type: 'done'; readonly cut: boolean };

export interface SearchResult {
  readonly files: readonly FoundFile[];
  /** Files that are binary, too large or unreadable. */
  readonly skipped: number;
  /** `limit`: matches were left out; `timed_out`: only a part was searched. */
  readonly end: 'complete' | 'limit' | 'timed_out';
}

/** Beside this file, in the sources as in the build. */
const WORKER = new URL(import.meta.url.endsWith('.ts') ? './search.worker.ts' : './search.worker.js', import.meta.url);

/** Searches until done, until `timeoutMs` after the thread's start, or until an abort, which rejects; what was found until a time-out is kept. */
export async function runSearch(
  job: SearchJob,
  limits: { readonly timeoutMs: number; readonly signal: AbortSignal },
): Promise<SearchResult> {
  const files: FoundFile[] = [];
  let skipped = 0;
  const worker = new Worker(WORKER, { workerData: job, env: {} });
  const { promise, resolve, reject } = Promise.withResolvers<SearchResult['end']>();
  const cancel = (): void => reject(limits.signal.reason);
  let timer: NodeJS.Timeout | undefined;
  limits.signal.addEventListener('abort', cancel, { once: true });
  worker.on('online', () => (timer = setTimeout(() => resolve('timed_out'), limits.timeoutMs)));
  worker.on('error', reject);
  worker.on('message', (message: SearchMessage) => {
    if (message.type === 'found') files.push(message.file);
    if (message.type === 'skipped') skipped += 1;
    if (message.type === 'done') resolve(message.cut ? 'limit' : 'complete');
  });
  try {
    const end = await promise;
    return { files, skipped, end };
  } finally {
    clearTimeout(timer);
    limits.signal.removeEventListener('abort', cancel);
    await worker.terminate();
  }
}
