/** What a program costs while nothing happens. */
import { setTimeout as sleep } from 'node:timers/promises';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import pg from 'pg';
import { now, processorTime } from '../clock.js';
import type { Contestant } from '../contestant.js';

/** Makes the method that measures a program on the database. */
export function createRestCost(databaseUrl: string): Contestant['restCost'] {
  return async ({ ms }) => {
    const [transactions, cpu, startedAt] = [await countTransactions(databaseUrl), processorTime(), now()];
    await sleep(ms);
    const [cpuAfter, endedAt] = [processorTime(), now()];
    const seconds = (endedAt - startedAt) / 1_000;
    return {
      heapKb: collectedHeap(),
      cpuMsPerSecond: (cpuAfter - cpu) / seconds,
      transactionsPerSecond: ((await countTransactions(databaseUrl)) - transactions) / seconds,
    };
  };
}

/** Asks the cluster's own database, so that the question is not counted. */
async function countTransactions(databaseUrl: string): Promise<number> {
  const url = new URL(databaseUrl);
  const database = url.pathname.slice(1);
  url.pathname = '/postgres';
  const client = new pg.Client(url.href);
  await client.connect();
  const { rows } = await client
    .query<{ count: number }>('SELECT (xact_commit + xact_rollback)::int AS count FROM pg_stat_database WHERE datname = $1', [database])
    .finally(() => client.end());
  return rows[0]?.count ?? 0;
}

/** Kilobytes of heap in use after a collection. */
export function collectedHeap(): number {
  setFlagsFromString('--expose-gc');
  const collect = runInNewContext('gc') as () => void;
  collect();
  return process.memoryUsage().heapUsed / 1_024;
}
