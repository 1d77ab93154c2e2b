/** The server on real services and a database of its own, without any worker: nothing runs turns unless a spec does. */
import { type ApiClient, createApiClient } from '@echelon/api-client';
import { DEFAULT_LIMITS } from '@echelon/domain';
import { createPostgresEventBus, type EventBus } from '@echelon/messaging';
import { createServices, Sequencer, type Services, Transactions } from '@echelon/orchestration';
import { createPool, Database } from '@echelon/persistence';
import { createMetrics, createServer, type Health, type Metrics, type ServerConfig } from '@echelon/server';
import { createTestDatabase, type TestDatabase } from '@echelon/testkit';
import { createToolCatalogue } from '@echelon/tools';

export interface RunningServer {
  readonly url: string;
  readonly token: string;
  readonly client: ApiClient;
  readonly services: Services;
  readonly database: Database;
  readonly storage: TestDatabase;
  readonly bus: EventBus;
  readonly metrics: Metrics;
  /** What was logged as an error. */
  readonly errors: readonly object[];
  /** What `/readyz` will find. */
  health: Health;
  /** Closes the server alone. */
  closeServer(): Promise<void>;
  stop(): Promise<void>;
}

/** Starts it on a free port of loopback, with one operator whose token is `token`. */
export async function startServer(config: Partial<ServerConfig> = {}): Promise<RunningServer> {
  const storage = await createTestDatabase();
  const database = new Database(createPool(storage.url, { max: 10 }));
  const bus = createPostgresEventBus({ connectionString: storage.url, namespace: 'spec' });
  const errors: object[] = [];
  const sequencer = new Sequencer(database, bus, (error) => errors.push({ error }));
  const transactions = new Transactions(database, { committed: ({ told }) => told && sequencer.nudge() });
  const services = createServices({ database, transactions, bus, limits: DEFAULT_LIMITS });
  const metrics = createMetrics();
  const ignore = () => undefined;
  const logger = { info: ignore, warn: ignore, error: (facts: object) => errors.push(facts) };
  const tools = createToolCatalogue({ services });
  const running = { health: { ready: true, checks: { database: { ok: true } } } as Health };
  const server = await createServer({ services, tools, logger, metrics, health: async () => running.health, config });
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
    await storage.drop();
  };
  const client = createApiClient({ baseUrl: url, token });
  return Object.assign(running, { url, token, client, services, database, storage, bus, metrics, errors, closeServer, stop });
}
