/** A contestant as it is deployed: in one process, or a worker and a server that share the work. */
import { randomBytes } from 'node:crypto';
import path from 'node:path';
import type { BenchContext } from './context.js';
import type { Contestant } from './contestant.js';
import { MeasuredProgram } from './measured-program.js';

export type ContestantName = 'platform' | 'bare-postgres';

export interface DeploymentOptions {
  /** Requests come to another process than the one that runs turns. */
  readonly apart?: boolean;
  readonly redisUrl?: string;
}

type Work<Method extends keyof Contestant> = Parameters<Contestant[Method]>[0];
type Done<Method extends keyof Contestant> = Awaited<ReturnType<Contestant[Method]>>;

class Deployment {
  readonly #programs: readonly MeasuredProgram[];
  readonly #front: MeasuredProgram;

  private constructor(programs: readonly MeasuredProgram[], front: MeasuredProgram) {
    this.#programs = programs;
    this.#front = front;
  }

  /** Starts it on a database of its own. */
  static async open(context: BenchContext, name: ContestantName, { apart = false, redisUrl }: DeploymentOptions = {}): Promise<Deployment> {
    const database = `bench_${randomBytes(4).toString('hex')}`;
    const env = {
      DATABASE_URL: await context.createDatabase(database),
      REDIS_URL: redisUrl ?? '',
      ECHELON_QUEUE_NAMESPACE: database,
      ECHELON_DATA_DIR: path.join(context.folder, database),
      ECHELON_SCRIPTED_MODEL_URL: context.modelUrl,
      ECHELON_LOG_LEVEL: 'warn',
      ECHELON_LIMIT_CREATES_PER_TREE_MINUTE: '1000000',
      ECHELON_LIMIT_QUEUE_ENTRIES: '0',
    };
    const worker = new MeasuredProgram(name, env);
    await worker.call('createRoots', { count: 0 });
    if (!apart) return new Deployment([worker], worker);
    const server = new MeasuredProgram(name, { ...env, BENCH_WORKER: 'false' });
    return new Deployment([worker, server], server);
  }

  call<Method extends keyof Contestant>(method: Method, work: Work<Method>): Promise<Done<Method>> {
    return this.#front.call<Done<Method>>(method, work);
  }

  async close(): Promise<void> {
    for (const program of this.#programs.toReversed()) await program.close();
  }
}

/** Ours and the reference, started one after the other. */
export interface Pair {
  readonly ours: Deployment;
  readonly bare: Deployment;
  close(): Promise<void>;
}

export async function openPair(context: BenchContext, options: DeploymentOptions = {}): Promise<Pair> {
  const { redisUrl: _notBare, ...shared } = options;
  const ours = await Deployment.open(context, 'platform', options);
  const bare = await Deployment.open(context, 'bare-postgres', shared);
  return { ours, bare, close: () => Promise.all([ours.close(), bare.close()]).then(() => undefined) };
}
