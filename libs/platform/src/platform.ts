/** createPlatform: the whole object graph on one screen. Opened top to bottom, closed in reverse. */
import { availableParallelism } from 'node:os';
import { createModelClient, providersFromEnv } from '@echelon/model-clients';
import {
  createPostgresEventBus,
  createPostgresJobQueue,
  createRedisEventBus,
  createRedisJobQueue,
  type EventBus,
  type JobQueue,
} from '@echelon/messaging';
import { createServices, type Logger, Relay, Sequencer, type Services, Transactions } from '@echelon/orchestration';
import {
  applicationRole,
  countOpenQuestions,
  createPool,
  Database,
  databaseAnswers,
  grantSchema,
  sessionOptions,
} from '@echelon/persistence';
import { AcpRuntime, LoopRuntime } from '@echelon/runtimes';
import { createToolCatalogue, type ToolCatalogue } from '@echelon/tools';
import { Closing } from './closing.js';
import type { Config } from './config.js';
import { createLogger } from './logger.js';
import { Semaphore } from './semaphore.js';
import { openStorage, type Storage } from './storage.js';
import { type SupervisedWorker, superviseWorker } from './worker-supervisor.js';
import { createTaskTools, endCommand } from './task-tools.js';
import { warnOfUnknownVariables } from './warn-of-unknown.js';
import { openWorkspaceRoot } from './workspace-root.js';

export interface PlatformOptions {
  /** Run turns in this process. */
  readonly worker: boolean;
  /** Storage that the caller has opened, and closes; opened here where absent. */
  readonly storage?: Storage;
}

export interface Platform {
  readonly config: Config;
  readonly log: Logger;
  readonly storage: Storage;
  readonly database: Database;
  /** What health checks and metrics ask. */
  readonly facts: { databaseAnswers(): Promise<boolean>; countOpenQuestions(): Promise<number> };
  readonly services: Services;
  readonly catalogue: ToolCatalogue;
  readonly queue: JobQueue;
  readonly bus: EventBus;
  readonly worker: SupervisedWorker | null;
  close(): Promise<void>;
}

const POOL = 20;
const STATEMENT_MS = 30_000;

/** Opens everything that a process of ours needs; on a failure what was opened is closed again. */
export async function createPlatform(config: Config, options: PlatformOptions): Promise<Platform> {
  const log = createLogger(config);
  const closing = new Closing();
  warnOfUnknownVariables(log, config);
  try {
    const storage = options.storage ?? closing.add(await openStorage(config), (it) => it.close());
    const root = options.worker ? openWorkspaceRoot(config) : null;
    const pool = createPool(storage.url, { max: POOL, statementTimeoutMs: STATEMENT_MS });
    const database = closing.add(new Database(pool), (it) => it.close());
    const queue = closing.add(openQueue(config, storage), (it) => it.close());
    const bus = closing.add(openBus(config, storage), (it) => it.close());
    const onError = (error: unknown): void => log.warn({ error }, 'announcement.deferred');
    const sequencer = closing.add(new Sequencer(database, bus, onError), (it) => it.close());
    const relay = closing.add(new Relay(database, queue, sequencer.nudge, onError), (it) => it.idle());
    const transactions = new Transactions(database, relay, config.limits.turns_per_tree);
    const services = createServices({ database, transactions, bus, limits: config.limits });
    closing.add(services.events, (it) => it.close());
    // Commands take slots of their own, as many as there are cores: turns that only think do not wait for those that build.
    const commands = new Semaphore(config.commandSlots ?? availableParallelism());
    const catalogue = createToolCatalogue({ services, workspaceTools: createTaskTools(config, commands) });
    const clients = createClients(config);
    const { slots, handOverMs, retention } = config;
    const shared = { database, transactions, bus, catalogue, workspaceRoot: config.workspaceRoot, handOverMs };
    const loop = new LoopRuntime({
      ...shared,
      subagentDepth: config.limits.subagent_depth,
      clientOf: clients,
      endCommand,
      commandSlot: (work, signal) => commands.run(work, signal),
      onHookFailure: ({ sessionId, turnId, ...failure }) => log.warn({ session_id: sessionId, turn_id: turnId, ...failure }, 'hook.failed'),
    });
    const acp = new AcpRuntime({ ...shared, mcpUrl: config.mcpUrl, variables: config.agentVariables });
    const worker = root
      ? closing.add(
          await superviseWorker({
            root,
            url: storage.url,
            database,
            transactions,
            queue,
            relay,
            sequencer,
            runtimes: { loop, acp },
            slots,
            handOverMs,
            retention,
            log,
          }),
          (it) => it.close(),
        )
      : null;
    const facts = { databaseAnswers: () => databaseAnswers(database), countOpenQuestions: () => countOpenQuestions(database) };
    return { config, log, storage, database, facts, services, catalogue, queue, bus, worker, close: () => closing.run() };
  } catch (error) {
    await closing.run();
    throw error;
  }
}

function openQueue(config: Config, storage: Storage): JobQueue {
  const namespace = config.queueNamespace;
  return config.redisUrl
    ? createRedisJobQueue({ url: config.redisUrl, namespace })
    : createPostgresJobQueue({
        connectionString: storage.url,
        ownerConnectionString: storage.ownerUrl,
        sessionOptions: sessionOptions(storage.url),
        grant: (owner, schema) => grantSchema(owner, schema, applicationRole(storage.url)),
        namespace,
      });
}

function openBus(config: Config, storage: Storage): EventBus {
  const namespace = config.queueNamespace;
  return config.redisUrl
    ? createRedisEventBus({ url: config.redisUrl, namespace })
    : createPostgresEventBus({ connectionString: storage.url, sessionOptions: sessionOptions(storage.url), namespace });
}

function createClients(config: Config) {
  const providers = providersFromEnv(config.env);
  const clients = new Map(Object.entries(providers).map(([name, provider]) => [name, createModelClient(provider)]));
  const unknown = (name: string) => createModelClient({ dialect: 'chat_completions', unavailable: `there is no provider named ${name}` });
  return (name: string) => clients.get(name) ?? unknown(name);
}
