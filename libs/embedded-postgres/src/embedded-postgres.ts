import { type ChildProcess, spawn } from 'node:child_process';
import path from 'node:path';
import { type Account, chooseAccount, commandFor } from './account.js';
import { locateBinaries } from './binaries.js';
import { type Cluster, clusterFolder, openCluster } from './cluster.js';
import { acquireDataDirLock, type DataDirLock } from './data-dir-lock.js';
import { findFreePort } from './free-port.js';
import { guard } from './guard.js';
import { stopLeftover } from './leftover.js';
import { isPortInUse, toStartupError } from './startup-error.js';

export interface EmbeddedPostgresOptions {
  /** Echelon's data folder; created where missing, with the cluster, its password and the lock inside. */
  readonly dataDir: string;
  /** TCP port on 127.0.0.1; a free one where absent or 0. */
  readonly port?: number;
  /** `false` gives up durability for speed; for tests only. */
  readonly durable?: boolean;
  /** Further server settings, by their names in the Postgres manual. */
  readonly settings?: Readonly<Record<string, string>>;
}

export interface EmbeddedPostgres {
  readonly port: number;
  readonly pid: number;
  /** Connection string of a database, `postgres` where absent. */
  url(database?: string): string;
  /** Resolves when the server is gone, whoever stopped it. */
  readonly exited: Promise<void>;
  /** Disconnects everyone, stops the server and gives the data folder back; repeated calls wait for the same end. */
  stop(): Promise<void>;
}

const SETTINGS = { listen_addresses: '127.0.0.1', unix_socket_directories: '', max_connections: '200', timezone: 'UTC' };
const VOLATILE = { fsync: 'off', synchronous_commit: 'off', full_page_writes: 'off' };

/**
 * Starts the Postgres that lives in the data folder, creating it at first.
 *
 * It answers on 127.0.0.1 only and asks for a generated password; it stops when this process dies. Throws `StartupError`.
 */
export async function startEmbeddedPostgres(options: EmbeddedPostgresOptions): Promise<EmbeddedPostgres> {
  const dataDir = path.resolve(options.dataDir);
  const lock = acquireDataDirLock(dataDir);
  try {
    const { cluster, server } = await launch({ ...options, dataDir });
    return createHandle(cluster, server, lock);
  } catch (error) {
    lock.release();
    throw toStartupError(error, dataDir);
  }
}

interface Server {
  readonly port: number;
  readonly process: ChildProcess;
}

async function launch({ dataDir, port = 0, durable = true, settings = {} }: EmbeddedPostgresOptions) {
  const binaries = locateBinaries();
  const account = chooseAccount(dataDir, clusterFolder(dataDir), binaries.postgres);
  const cluster = openCluster({ dataDir, binaries, account, durable });
  stopLeftover(cluster.folder, binaries.pgCtl, account);
  const allSettings = { ...SETTINGS, ...(durable ? {} : VOLATILE), ...settings };
  const plan = { postgres: binaries.postgres, account, folder: cluster.folder, settings: allSettings };
  return { cluster, server: port === 0 ? await startOnFreePort(plan) : await startServer(plan, port) };
}

interface ServerPlan {
  readonly postgres: string;
  readonly account: Account;
  readonly folder: string;
  readonly settings: Readonly<Record<string, string>>;
}

const PORT_ATTEMPTS = 5;

/** A port that was free a moment ago may be taken by the time Postgres binds it. */
async function startOnFreePort(plan: ServerPlan, attempt = 1): Promise<Server> {
  try {
    return await startServer(plan, await findFreePort());
  } catch (error) {
    if (!isPortInUse(error) || attempt === PORT_ATTEMPTS) throw error;
    return startOnFreePort(plan, attempt + 1);
  }
}

async function startServer({ postgres, account, folder, settings }: ServerPlan, port: number): Promise<Server> {
  const flags = Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`]);
  const { command, args, options } = commandFor(account, postgres, ['-D', folder, '-p', String(port), ...flags]);
  const server = spawn(command, args, { ...options, cwd: '/', detached: true, stdio: ['ignore', 'ignore', 'pipe'] });
  guard(server);
  await untilReady(server);
  return { port, process: server };
}

const LOG_TAIL = 4_000;

/** Resolves when the server says that it accepts connections; rejects with the end of its log when it exits before. */
function untilReady(server: ChildProcess): Promise<void> {
  return new Promise((resolve, reject) => {
    let tail = '';
    server.stderr?.setEncoding('utf8').on('data', (text: string) => {
      tail = (tail + text).slice(-LOG_TAIL);
      if (tail.includes('ready to accept connections')) resolve();
    });
    server.once('error', reject);
    server.once('close', () => reject(new Error(tail)));
  });
}

function createHandle(cluster: Cluster, server: Server, lock: DataDirLock): EmbeddedPostgres {
  const exited = new Promise<void>((resolve) => server.process.once('exit', () => resolve()));
  return {
    port: server.port,
    pid: server.process.pid ?? 0,
    exited,
    url: (database = 'postgres') => `postgresql://postgres:${cluster.password}@127.0.0.1:${server.port}/${encodeURIComponent(database)}`,
    stop: async () => {
      server.process.kill('SIGINT');
      await exited;
      lock.release();
    },
  };
}
