/** The server on real services and a database of its own, without any worker: nothing runs turns unless a spec does. */
import { randomUUID } from 'node:crypto';
import { type ApiClient, createApiClient } from '@echelon/api-client';
import { DEFAULT_LIMITS } from '@echelon/domain';
import { createPostgresEventBus, type EventBus } from '@echelon/messaging';
import { createServices, Sequencer, type Services, Transactions } from '@echelon/orchestration';
import { createPool, Database } from '@echelon/persistence';
import { createMetrics, createServer, type Health, type Metrics, type ServerConfig } from '@echelon/server';
import { createTestDatabase, type FaultProxy, startFaultProxy, type TestDatabase } from '@echelon/testkit';
import { createToolCatalogue, type ToolCatalogue } from '@echelon/tools';

/** A task and its primary session, with a token of that session. */
export interface TestAgent {
  readonly taskId: string;
  readonly sessionId: string;
  readonly token: string;
}

export interface RunningServer {
  readonly url: string;
  readonly token: string;
  readonly client: ApiClient;
  readonly services: Services;
  readonly database: Database;
  readonly databaseUrl: string;
  readonly transactions: Transactions;
  /** Runs statements as the owner of the tables. */
  asOwner(statements: string): Promise<void>;
  /** The line between the services and the database. */
  readonly line: FaultProxy;
  readonly bus: EventBus;
  readonly metrics: Metrics;
  /** What was logged as an error. */
  readonly errors: readonly object[];
  /** What `/readyz` asks. */
  health: () => Promise<Health>;
  /** Creates a task in a workspace of its own, or below a parent. */
  agent(options?: { readonly parent?: TestAgent; readonly autopilot?: boolean }): Promise<TestAgent>;
  /** Another server on the same database, with a bus and connections of its own, as another process has them. */
  another(): Promise<Pick<RunningServer, 'url' | 'metrics' | 'stop'>>;
  /** Closes the server alone. */
  closeServer(): Promise<void>;
  stop(): Promise<void>;
}

/** Starts it on a free port of loopback, with one operator whose token is `token`; the tools are the product's unless given. */
export async function startServer(config: Partial<ServerConfig> = {}, catalogue?: ToolCatalogue): Promise<RunningServer> {
  const storage = await createTestDatabase();
  const line = await startFaultProxy({ port: Number(new URL(storage.url).port) });
  const errors: object[] = [];
  const { stop: stopProcess, ...parts } = await startProcess({ storage, through: line.through(storage.url), config, catalogue, errors });
  const token = (await parts.services.tokens.bootstrapOperator('ada'))!.secret;
  const client = createApiClient({ baseUrl: parts.url, token });
  const stop = async () => {
    await stopProcess();
    await line.close();
    await storage.drop();
  };
  const agent: RunningServer['agent'] = async ({ parent, autopilot = false } = {}) => {
    const place = parent ? { parent_id: parent.taskId } : await createPlace(client);
    const task = await client.tasks.create({ ...place, prompt: 'Do it.', autopilot });
    const { secret } = await client.tokens.issue({ kind: 'session', label: 'agent', task_id: task.id });
    return { taskId: task.id, sessionId: task.primary_session_id!, token: secret };
  };
  const another = () => startProcess({ storage, through: storage.url, config, catalogue, errors });
  return Object.assign(parts.running, {
    ...parts,
    agent,
    another,
    asOwner: storage.asOwner,
    databaseUrl: storage.url,
    token,
    client,
    line,
    errors,
    stop,
  });
}

interface ProcessOptions {
  readonly storage: TestDatabase;
  /** The database as the services reach it. */
  readonly through: string;
  readonly config: Partial<ServerConfig>;
  readonly catalogue: ToolCatalogue | undefined;
  readonly errors: object[];
}

/** What one process of the server has, listening on a free port. */
async function startProcess({ storage, through, config, catalogue, errors }: ProcessOptions) {
  const database = new Database(createPool(through, { max: 10 }));
  const bus = createPostgresEventBus({ connectionString: storage.url, namespace: 'spec' });
  const sequencer = new Sequencer(database, bus, (error) => errors.push({ error }));
  const transactions = new Transactions(database, { committed: ({ told }) => told && sequencer.nudge() });
  const services = createServices({ database, transactions, bus, limits: DEFAULT_LIMITS });
  const metrics = createMetrics();
  const ignore = () => undefined;
  const logger = { info: ignore, warn: ignore, error: (facts: object) => errors.push(facts) };
  const tools = catalogue ?? createToolCatalogue({ services });
  const running = { health: async (): Promise<Health> => ({ ready: true, checks: { database: { ok: true } } }) };
  const server = await createServer({ services, tools, logger, metrics, health: () => running.health(), config });
  const { url } = await server.listen('127.0.0.1', 0);
  let closed: Promise<void> | null = null;
  const closeServer = () => (closed ??= server.close());
  const stop = async () => {
    await closeServer();
    await services.events.close();
    await sequencer.close();
    await bus.close();
    await database.close();
  };
  return { running, url, services, database, transactions, bus, metrics, closeServer, stop };
}

async function createPlace(client: ApiClient) {
  const workspace = await client.workspaces.create({ name: randomUUID() });
  const profile = await client.profiles.create({ workspace_id: workspace.id, name: 'default', provider: 'scripted', model: 'any' });
  return { workspace_id: workspace.id, profile_id: profile.id };
}
