/** The workspace root of a spec's database, and the one worker that reaches it: a row and a presence, without a process or a slot. */
import { type Database, newId, PRESENCE_LOCK_CLASS, registerRoot, registerWorker } from '@echelon/persistence';
import pg from 'pg';

export const ROOT = { id: '01900000-0000-7000-8000-00000000c0de', host: 'spec', path: '/spec' };
const PRESENCE = '2000000002';

/** Registers a root and a worker that reaches it; the returned function ends the worker's presence. */
export async function reachRoot(url: string, database: Database, root = ROOT, presence = PRESENCE): Promise<() => Promise<void>> {
  const client = new pg.Client(url);
  client.on('error', () => undefined);
  await client.connect();
  await client.query('SELECT pg_advisory_lock($1, $2)', [PRESENCE_LOCK_CLASS, presence]);
  await database.transaction(async (tx) => {
    registerRoot(tx, root);
    await registerWorker(tx, { id: newId(), presence, host: root.host, pid: process.pid, build: 3, slots: 0, rootId: root.id });
  });
  return () => client.end();
}
