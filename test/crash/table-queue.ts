/** The queue's port on a table: its jobs outlive the process that gave them, as they do in the backends of the product. */
import type { JobQueue } from '@echelon/messaging';
import type { Database } from '@echelon/persistence';
import pg from 'pg';

/** Creates the table as the database's owner, for whoever works on it; once per database. */
export async function createJobTable(url: string): Promise<void> {
  const client = new pg.Client(url);
  await client.connect();
  try {
    await client.query('CREATE TABLE job (id text PRIMARY KEY, session_id uuid NOT NULL); GRANT ALL ON job TO PUBLIC');
  } finally {
    await client.end();
  }
}

export function openTableQueue(database: Database): JobQueue {
  return {
    enqueue: async (jobs) => {
      const rows = [jobs.map(({ id }) => id), jobs.map(({ sessionId }) => sessionId)];
      await database.query('INSERT INTO job SELECT * FROM unnest($1::text[], $2::uuid[]) ON CONFLICT DO NOTHING', rows);
    },
    work: () => {
      throw new Error('its jobs are taken one by one');
    },
    health: () => Promise.resolve({ reachable: true, waiting: 0, oldestWaitMs: 0 }),
    close: () => Promise.resolve(),
  };
}

/** Takes all jobs; gives their sessions, those of parents first. */
export async function takeJobs(database: Database): Promise<readonly string[]> {
  const taken = await database.query<{ readonly session_id: string; readonly depth: number }>(
    `WITH taken AS (DELETE FROM job RETURNING session_id)
     SELECT session_id, depth FROM taken JOIN session s ON s.id = session_id JOIN task t ON t.id = s.task_id ORDER BY depth, session_id`,
  );
  return taken.map(({ session_id }) => session_id);
}
