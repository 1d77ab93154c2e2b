/** A contestant as it is deployed: in one process, or a worker and a server that share the work. */
import { randomBytes } from 'node:crypto';
import path from 'node:path';
import type { BenchContext } from './context.js';
import type { Contestant } from './contestant.js';
import { MeasuredProgram } from './measured-program.js';
import type { TreeWork } from './programs/platform-tree.js';

export type ContestantName = 'platform' | 'bare-postgres' | 'dbos';

export interface DeploymentOptions {
  /** Requests come to another process than the one that runs turns. */
  readonly apart?: boolean;
  readonly redisUrl?: string;
}

/** The environment of programs that share a new database. */
export async function deploymentEnv(context: BenchContext, redisUrl = ''): Promise<Readonly<Record<string, string>>> {
  const database = `bench_${randomBytes(4).toString('hex')}`;
  return {
    DATABASE_URL: await context.createDatabase(database),
    REDIS_URL: redisUrl,
    ECHELON_QUEUE_NAMESPACE: database,
    ECHELON_DATA_DIR: path.join(context.folder, database),
    ECHELON_SCRIPTED_MODEL_URL: context.modelUrl,
    ECHELON_LOG_LEVEL: 'error',
    ECHELON_LIMIT_CREATES_PER_TREE_MINUTE: '1000000',
    ECHELON_LIMIT_QUEUE_ENTRIES: '0',
  };
}

/** Resolves when it takes calls. */
async function startProgram(name: ContestantName, env: Readonly<Record<string, string>>): Promise<MeasuredProgram> {
  const program = new MeasuredProgram(name, env);
  await program.call('createRoots', { count: 0 });
  return program;
}

/** Trees are the product's alone. */
type Methods = Contestant & TreeWork;
type Work<Method extends keyof Methods> = Parameters<Methods[Method]>[0];
type Done<Method extends keyof Methods> = Awaited<ReturnType<Methods[Method]>>;

export class Deployment {
  #programs: readonly MeasuredProgram[];

  private constructor(
    private readonly start: (variables: Readonly<Record<string, string>>) => Promise<MeasuredProgram>,
    programs: readonly MeasuredProgram[],
  ) {
    this.#programs = programs;
  }

  /** Starts it on a database of its own. */
  static async open(context: BenchContext, name: ContestantName, { apart = false, redisUrl }: DeploymentOptions = {}): Promise<Deployment> {
    const env = await deploymentEnv(context, redisUrl);
    const start = (variables: Readonly<Record<string, string>>) => startProgram(name, { ...env, ...variables });
    const worker = await start({});
    return new Deployment(start, apart ? [worker, await start({ BENCH_WORKER: 'false' })] : [worker]);
  }

  /** Where the requests come to. */
  get #front(): MeasuredProgram {
    const front = this.#programs.at(-1);
    if (!front) throw new Error('the deployment has ended');
    return front;
  }

  /** Kills the one process that it has, and starts it again on the same database. */
  async restart(): Promise<void> {
    await this.#front.kill();
    this.#programs = [await this.start({})];
  }

  call<Method extends keyof Methods>(method: Method, work: Work<Method>): Promise<Done<Method>> {
    return this.#front.call<Done<Method>>(method, work);
  }

  async close(): Promise<void> {
    for (const program of this.#programs.toReversed()) await program.close();
  }
}

/** Who runs sessions on Postgres. */
export type FieldSide = 'ours' | 'bare' | 'DBOS';

/** Ours and the references that take part, started one after the other. */
export class Field {
  private constructor(private readonly deployments: ReadonlyMap<FieldSide, Deployment>) {}

  static async open(context: BenchContext, options: DeploymentOptions = {}): Promise<Field> {
    const { redisUrl: _onlyOurs, ...shared } = options;
    const deployments = new Map<FieldSide, Deployment>();
    deployments.set('ours', await Deployment.open(context, 'platform', options));
    deployments.set('bare', await Deployment.open(context, 'bare-postgres', shared));
    if (context.peersFailure === null) deployments.set('DBOS', await Deployment.open(context, 'dbos', shared));
    return new Field(deployments);
  }

  get sides(): readonly FieldSide[] {
    return [...this.deployments.keys()];
  }

  of(side: FieldSide): Deployment {
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
