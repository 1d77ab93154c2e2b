/** A contestant as it is deployed: in one process, or a worker and a server that share the work. */
import { randomBytes } from 'node:crypto';
import path from 'node:path';
import type { Side } from './alternate.js';
import type { BenchContext } from './context.js';
import type { Contestant } from './contestant.js';
import { MeasuredProgram } from './measured-program.js';

export type ContestantName = 'platform' | 'bare-postgres' | 'dbos';

export interface DeploymentOptions {
  /** Requests come to another process than the one that runs turns. */
  readonly apart?: boolean;
  readonly redisUrl?: string;
}

type Work<Method extends keyof Contestant> = Parameters<Contestant[Method]>[0];
type Done<Method extends keyof Contestant> = Awaited<ReturnType<Contestant[Method]>>;

export class Deployment {
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

/** Ours and the references that take part, started one after the other. */
export class Field {
  private constructor(private readonly deployments: ReadonlyMap<Side, Deployment>) {}

  static async open(context: BenchContext, options: DeploymentOptions = {}): Promise<Field> {
    const { redisUrl: _onlyOurs, ...shared } = options;
    const deployments = new Map<Side, Deployment>();
    deployments.set('ours', await Deployment.open(context, 'platform', options));
    deployments.set('bare', await Deployment.open(context, 'bare-postgres', shared));
    if (context.peersFailure === null) deployments.set('dbos', await Deployment.open(context, 'dbos', shared));
    return new Field(deployments);
  }

  get sides(): readonly Side[] {
    return [...this.deployments.keys()];
  }

  of(side: Side): Deployment {
    const deployment = this.deployments.get(side);
    if (!deployment) throw new Error(`${side} does not take part`);
    return deployment;
  }

  /** One after the other. */
  async each(act: (deployment: Deployment) => Promise<unknown>): Promise<void> {
    for (const deployment of this.deployments.values()) await act(deployment);
  }

  async close(): Promise<void> {
    await Promise.all([...this.deployments.values()].map((deployment) => deployment.close()));
  }
}
