/** Keeps one worker running: one that lost its presence (the database went away) is replaced by a new one as soon as that is possible. */
import { setTimeout as sleep } from 'node:timers/promises';
import { startWorkerHost, type WorkerHost, type WorkerHostOptions } from './worker-host.js';

const RETRY_MS = 1_000;

/** Starts the worker and replaces it when it is lost; rejects when the first one cannot start. */
export async function superviseWorker(options: Omit<WorkerHostOptions, 'onLost'>): Promise<WorkerHost> {
  const closing = new AbortController();
  let replacing: Promise<void> = Promise.resolve();
  let host = await start();

  function start(): Promise<WorkerHost> {
    return startWorkerHost({
      ...options,
      onLost: () => {
        replacing = replace(host).catch((error: unknown) => options.log.error({ error }, 'worker.not_replaced'));
      },
    });
  }

  async function replace(lost: WorkerHost): Promise<void> {
    options.log.warn({}, 'worker.lost');
    await lost.close().catch((error: unknown) => options.log.warn({ error }, 'worker.close_failed'));
    while (!closing.signal.aborted) {
      try {
        host = await start();
        options.log.info({}, 'worker.replaced');
        return;
      } catch (error) {
        options.log.warn({ error }, 'worker.cannot_start');
        await sleep(RETRY_MS, undefined, { signal: closing.signal }).catch(() => undefined);
      }
    }
  }

  return {
    fetchedRecently: () => host.fetchedRecently(),
    close: async () => {
      closing.abort();
      await replacing;
      await host.close();
    },
  };
}
