/**
 * The durable steps of a session with plain SQL: one statement, one commit each. What the machine allows, and nothing that a product
 * needs: no history, no events, no leases that end, no authority.
 */
import pg from 'pg';

const TABLES = `
CREATE TABLE IF NOT EXISTS session (id int PRIMARY KEY, parent_id int, driven boolean NOT NULL,
  running boolean NOT NULL DEFAULT false, epoch int NOT NULL DEFAULT 0);
CREATE TABLE IF NOT EXISTS entry (id int GENERATED ALWAYS AS IDENTITY PRIMARY KEY, session_id int NOT NULL, text text NOT NULL,
  queued boolean NOT NULL DEFAULT true);
CREATE INDEX IF NOT EXISTS entry_queued ON entry (session_id) WHERE queued;
CREATE TABLE IF NOT EXISTS question (id int GENERATED ALWAYS AS IDENTITY PRIMARY KEY, session_id int NOT NULL, text text NOT NULL, answer text);
CREATE INDEX IF NOT EXISTS question_pending ON question (session_id) WHERE answer IS NULL;
CREATE TABLE IF NOT EXISTS request (id int GENERATED ALWAYS AS IDENTITY PRIMARY KEY, session_id int NOT NULL, epoch int NOT NULL)`;

const STATEMENTS = {
  create: 'INSERT INTO session (id, parent_id, driven) VALUES ($1, $2, $3)',
  send: 'INSERT INTO entry (session_id, text) VALUES ($1, $2)',
  sendAway: `WITH sent AS (INSERT INTO entry (session_id, text) VALUES ($1, $2)) SELECT pg_notify('wake', $1::text)`,
  claim: `
    WITH held AS (UPDATE session SET running = true, epoch = epoch + 1 WHERE id = $1 AND NOT running
        AND EXISTS (SELECT 1 FROM entry WHERE session_id = $1 AND queued) RETURNING epoch),
      taken AS (UPDATE entry SET queued = false FROM held
        WHERE id = (SELECT id FROM entry WHERE session_id = $1 AND queued ORDER BY id LIMIT 1) RETURNING text)
    SELECT text, epoch FROM taken, held`,
  prepare: 'INSERT INTO request (session_id, epoch) SELECT id, epoch FROM session WHERE id = $1 AND epoch = $2 FOR NO KEY UPDATE',
  ask: `
    WITH asked AS (INSERT INTO question (session_id, text) VALUES ($1, $3)),
      told AS (INSERT INTO entry (session_id, text) SELECT parent_id, $3 FROM session WHERE id = $1)
    UPDATE session SET running = false WHERE id = $1 AND epoch = $2 RETURNING parent_id`,
  answer: `
    WITH answered AS (UPDATE question SET answer = $2 WHERE session_id = $1 AND answer IS NULL RETURNING session_id)
    INSERT INTO entry (session_id, text) SELECT session_id, $2 FROM answered`,
  settle: 'UPDATE session SET running = false WHERE id = $1 AND epoch = $2',
  multiply: `
    WITH made AS (SELECT n, (SELECT max(id) FROM session) + n * 11 AS parent FROM generate_series(0, $1::int - 1) AS n),
      born AS (INSERT INTO session (id, parent_id, driven)
        SELECT parent + child + 1, CASE WHEN child > 0 THEN parent + 1 END, child > 0 FROM made, generate_series(0, 10) AS child RETURNING id, driven)
    INSERT INTO question (session_id, text) SELECT id, json_build_object('task_id', id, 'session_id', id)::text FROM born WHERE driven`,
  waiting: 'SELECT session_id FROM question WHERE answer IS NULL',
  busy: `
    SELECT EXISTS (SELECT 1 FROM session WHERE running)
      OR EXISTS (SELECT 1 FROM entry JOIN session s ON s.id = session_id WHERE queued AND s.driven) AS busy`,
} as const;

export interface BareTurn {
  readonly sessionId: number;
  readonly epoch: number;
  readonly text: string;
}

export class BareSessions {
  readonly #pool: pg.Pool;

  private constructor(pool: pg.Pool) {
    this.#pool = pool;
  }

  static async open(url: string): Promise<BareSessions> {
    const pool = new pg.Pool({ connectionString: url, max: 20 });
    await pool.query(TABLES);
    return new BareSessions(pool);
  }

  /** Entries of a session that is not driven open no turns. */
  create(session: { readonly id: number; readonly parentId: number | null; readonly driven: boolean }): Promise<unknown> {
    return this.#run('create', [session.id, session.parentId, session.driven]);
  }

  /** Queues a text; `away` tells a worker elsewhere. */
  send(sessionId: number, text: string, away: boolean): Promise<unknown> {
    return this.#run(away ? 'sendAway' : 'send', [sessionId, text]);
  }

  async claim(sessionId: number): Promise<BareTurn | null> {
    const [row] = await this.#run<{ text: string; epoch: number }>('claim', [sessionId]);
    return row ? { sessionId, ...row } : null;
  }

  prepare({ sessionId, epoch }: BareTurn): Promise<unknown> {
    return this.#run('prepare', [sessionId, epoch]);
  }

  /** Ends the turn with a question; gives the parent, who has an entry now. */
  async ask({ sessionId, epoch }: BareTurn, text: string): Promise<number> {
    const [row] = await this.#run<{ parent_id: number }>('ask', [sessionId, epoch, text]);
    if (!row) throw new Error('the turn is lost');
    return row.parent_id;
  }

  answer(sessionId: number, text: string): Promise<unknown> {
    return this.#run('answer', [sessionId, text]);
  }

  settle({ sessionId, epoch }: BareTurn): Promise<unknown> {
    return this.#run('settle', [sessionId, epoch]);
  }

  /** So many parents with ten children that wait. */
  multiply(copies: number): Promise<unknown> {
    return this.#run('multiply', [copies]);
  }

  /** Sessions that wait for an answer. */
  async listWaiting(): Promise<readonly number[]> {
    const rows = await this.#run<{ session_id: number }>('waiting', []);
    return rows.map((row) => row.session_id);
  }

  async isQuiet(): Promise<boolean> {
    const [row] = await this.#run<{ busy: boolean }>('busy', []);
    return row?.busy === false;
  }

  /** Hears of entries that were sent away. */
  async listen(wake: (sessionId: number) => void): Promise<void> {
    const client = await this.#pool.connect();
    client.on('notification', ({ payload }) => wake(Number(payload)));
    await client.query('LISTEN wake');
  }

  async #run<Row extends object>(name: keyof typeof STATEMENTS, values: readonly unknown[]): Promise<readonly Row[]> {
    return (await this.#pool.query<Row>({ name, text: STATEMENTS[name], values: [...values] })).rows;
  }
}
