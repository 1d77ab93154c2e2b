/**
 * Keeps one worker running: one that must not go on (the database went away, or asks for a newer build) is replaced by a new one as
 * soon as that is possible.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { startWorkerHost, type WorkerHost, type WorkerHostOptions } from './worker-host.js';

const RETRY_MS = 1_000;
const LOST = 'The worker is being replaced.';

export interface SupervisedWorker extends WorkerHost {
  /** Why nothing is claimed here, in one sentence; `null` while the worker works. */
  obstacle(): string | null;
}

/** Starts the worker and replaces it when it is lost; rejects when the first one cannot start. */
export async function superviseWorker(options: Omit<WorkerHostOptions, 'onLost'>): Promise<SupervisedWorker> {
  const { log } = options;
  const closing = new AbortController();
  let host: WorkerHost | null = null;
  let obstacle: string | null = null;
  let replacing: Promise<void> = Promise.resolve();

  /** A worker that is lost while it starts is replaced like any other; one that did not start is none. */
  async function start(): Promise<void> {
    const lost = new AbortController();
    host = await startWorkerHost({ ...options, onLost: () => lost.abort() });
    obstacle = null;
    const replaceNext = (): void => void (replacing = replacing.then(replace));
    if (lost.signal.aborted) replaceNext();
    else lost.signal.addEventListener('abort', replaceNext, { once: true });
  }

  async function replace(): Promise<void> {
    log.warn({}, 'worker.lost');
    obstacle = LOST;
    await host?.close().catch((error: unknown) => log.warn({ error }, 'worker.close_failed'));
    host = null;
    while (!closing.signal.aborted) {
      try {
        await start();
        log.info({}, 'worker.replaced');
        return;
      } catch (error) {
        noteObstacle(error);
        await sleep(RETRY_MS, undefined, { signal: closing.signal }).catch(() => undefined);
      }
    }
  }

  /** Each obstacle is logged once, not with every attempt. */
  function noteObstacle(error: unknown): void {
    const message = error instanceof Error ? error.message : String(error);
    if (message !== obstacle) log.warn({ error }, 'worker.cannot_start');
    obstacle = message;
  }

  await start();
  return {
    fetchedRecently: () => host?.fetchedRecently() ?? false,
    obstacle: () => obstacle,
    close: async () => {
      closing.abort();
      await replacing;
      await host?.close();
    },
  };
}
