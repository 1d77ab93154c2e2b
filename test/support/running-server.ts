/** The server on real services and a database of its own, without any worker: nothing runs turns unless a spec does. */
import { randomUUID } from 'node:crypto';
import { type ApiClient, createApiClient } from '@echelon/api-client';
import { DEFAULT_LIMITS } from '@echelon/domain';
import { createPostgresEventBus, type EventBus } from '@echelon/messaging';
import { createServices, Sequencer, type Services, Transactions } from '@echelon/orchestration';
import { createPool, Database } from '@echelon/persistence';
import { createMetrics, createServer, type Health, type Metrics, type ServerConfig } from '@echelon/server';
import { createTestDatabase, type FaultProxy, startFaultProxy } from '@echelon/testkit';
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
  /** Closes the server alone. */
  closeServer(): Promise<void>;
  stop(): Promise<void>;
}

/** Starts it on a free port of loopback, with one operator whose token is `token`; the tools are the product's unless given. */
export async function startServer(config: Partial<ServerConfig> = {}, catalogue?: ToolCatalogue): Promise<RunningServer> {
  const storage = await createTestDatabase();
  const line = await startFaultProxy({ port: Number(new URL(storage.url).port) });
  const database = new Database(createPool(line.through(storage.url), { max: 10 }));
  const bus = createPostgresEventBus({ connectionString: storage.url, namespace: 'spec' });
  const errors: object[] = [];
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
  const token = (await services.tokens.bootstrapOperator('ada'))!.secret;
  let closed: Promise<void> | null = null;
  const closeServer = () => (closed ??= server.close());
  const stop = async () => {
    await closeServer();
    await services.events.close();
    await sequencer.close();
    await bus.close();
    await database.close();
    await line.close();
    await storage.drop();
  };
  const client = createApiClient({ baseUrl: url, token });
  const agent: RunningServer['agent'] = async ({ parent, autopilot = false } = {}) => {
    const place = parent ? { parent_id: parent.taskId } : await createPlace(client);
    const task = await client.tasks.create({ ...place, prompt: 'Do it.', autopilot });
    const { secret } = await client.tokens.issue({ kind: 'session', label: 'agent', task_id: task.id });
    return { taskId: task.id, sessionId: task.primary_session_id!, token: secret };
  };
  return Object.assign(running, {
    agent,
    asOwner: storage.asOwner,
    url,
    token,
    client,
    services,
    database,
    line,
    bus,
    metrics,
    errors,
    closeServer,
    stop,
  });
}

async function createPlace(client: ApiClient) {
  const workspace = await client.workspaces.create({ name: randomUUID() });
  const profile = await client.profiles.create({ workspace_id: workspace.id, name: 'default', provider: 'scripted', model: 'any' });
  return { workspace_id: workspace.id, profile_id: profile.id };
}
