/**
 * The thread that keeps a worker process's leases (K12). It runs beside the main loop, so that a busy loop loses no lease.
 *
 * P1  The advisory lock of the process's presence number is held by this thread's connection and by nothing else.
 * P2  Leases are renewed only while the main loop's counter moves, or has moved within `stallMs`.
 * P3  The election as sweeper is kept in the same way: a process that stands still loses it.
 * P4  A lost connection is retried with the same number for `reconnectMs`; then the process has lost its presence for good.
 */
import { parentPort, workerData } from 'node:worker_threads';
import pg from 'pg';

interface PresenceOptions {
  readonly url: string;
  /** Settings of its connection. */
  readonly options: string;
  readonly lockClass: number;
  readonly leaseMs: number;
  readonly renewMs: number;
  readonly stallMs: number;
  readonly reconnectMs: number;
  readonly statements: { readonly renew: string; readonly readHeld: string; readonly takeElection: string };
  readonly counter: SharedArrayBuffer;
}

/** A server that has much to do answers late; only a connection that was lost is given up quickly. */
const FIRST_CONNECT_MS = 10_000;

const options = workerData as PresenceOptions;
const counter = new Int32Array(options.counter);
let client: pg.Client | null = null;
let presence: string | null = null;
let held: readonly string[] = [];
let lastCount = -1;
let lastMoved = performance.now();

async function connect(withinMs: number): Promise<pg.Client> {
  const fresh = new pg.Client({
    connectionString: options.url,
    options: options.options,
    application_name: 'echelon-presence',
    keepAlive: true,
    query_timeout: options.leaseMs,
    connectionTimeoutMillis: withinMs,
  });
  fresh.on('error', () => {
    if (client === fresh) client = null;
  });
  await fresh.connect();
  return fresh;
}

async function acquire(withinMs: number): Promise<void> {
  client = await connect(withinMs);
  if (presence === null) {
    const { rows } = await client.query<{ presence: string }>(`SELECT nextval('worker_presence') AS presence`);
    presence = rows[0]?.presence ?? null;
  }
  const { rows } = await client.query<{ taken: boolean }>('SELECT pg_try_advisory_lock($1, $2) AS taken', [options.lockClass, presence]);
  if (!rows[0]?.taken) throw new Error('presence number is held by another connection');
}

async function reacquire(): Promise<boolean> {
  const giveUpAt = performance.now() + options.reconnectMs;
  while (performance.now() < giveUpAt) {
    try {
      await acquire(options.reconnectMs);
      return true;
    } catch {
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
  }
  return false;
}

function loopMoves(): boolean {
  const count = Atomics.load(counter, 0);
  if (count !== lastCount) {
    lastCount = count;
    lastMoved = performance.now();
  }
  return performance.now() - lastMoved < options.stallMs;
}

async function renew(connection: pg.Client): Promise<void> {
  if (!loopMoves()) return;
  const { renew: renewal, readHeld, takeElection } = options.statements;
  const sessions = held;
  await connection.query(renewal, [presence, options.leaseMs, sessions]);
  const { rows } = await connection.query(readHeld, [presence, sessions]);
  const election = await connection.query(takeElection, [presence, options.leaseMs]);
  parentPort?.postMessage({ type: 'renewed', leases: rows, elected: election.rowCount === 1 });
}

async function beat(): Promise<void> {
  try {
    if (!client && !(await reacquire())) {
      parentPort?.postMessage({ type: 'lost' });
      return;
    }
    if (client) await renew(client);
  } catch {
    await client?.end().catch(() => undefined);
    client = null;
  }
  timer = setTimeout(() => void beat(), options.renewMs);
}

let timer: NodeJS.Timeout | undefined;
parentPort?.on('message', (message: { readonly type: 'close' } | { readonly type: 'held'; readonly sessions: readonly string[] }) => {
  if (message.type === 'held') {
    held = message.sessions;
    return;
  }
  clearTimeout(timer);
  void (client?.end() ?? Promise.resolve()).finally(() => process.exit(0));
});

try {
  await acquire(FIRST_CONNECT_MS);
  parentPort?.postMessage({ type: 'present', presence });
  await beat();
} catch (error) {
  parentPort?.postMessage({ type: 'failed', message: error instanceof Error ? error.message : String(error) });
}
