/** One process as it is started: its services, the relay, a slot for the turns of the scripted agents, and the sweep. */
import type { EventBus } from '@echelon/messaging';
import type { Database } from '@echelon/persistence';
import type { AgentRuntime } from '../../libs/orchestration/src/agent-runtime.js';
import { Relay } from '../../libs/orchestration/src/relay.js';
import { Sequencer } from '../../libs/orchestration/src/sequencer.js';
import { SessionRunner } from '../../libs/orchestration/src/session-runner.js';
import { Sweeper } from '../../libs/orchestration/src/sweeper.js';
import { ROOT } from '../support/reached-root.js';
import { type Hands, openHands } from './hands.js';
import { ScriptedAgents } from './scripted-agents.js';
import type { Stage } from './stage.js';
import { openTableQueue, takeJobs } from './table-queue.js';

const LEASE_MS = 600_000;
const ignore = () => undefined;
const BUS: EventBus = { publish: ignore, subscribe: async () => ignore, onReconnect: () => ignore, close: async () => undefined };

export interface Machine {
  readonly hands: Hands;
  readonly relay: Relay;
  readonly runner: SessionRunner;
  readonly sweeper: Sweeper;
  /** Failures that nobody awaited. */
  readonly failures: readonly unknown[];
}

/** A turn that its process does not live to see. */
const NO_AGENTS: AgentRuntime = { run: () => new Promise(() => undefined) };

/** Starts a machine that dies: what it commits stays in the outbox, and the turns that it claims stay open. */
export function startDoomed(database: Database): Machine {
  return start(database, null);
}

/** Starts a machine that goes on from what Postgres holds. */
export function startMachine(database: Database, stages: readonly Stage[]): Machine {
  return start(database, stages);
}

function start(database: Database, stages: readonly Stage[] | null): Machine {
  const failures: unknown[] = [];
  const fail = (error: unknown) => void failures.push(error);
  const relay = new Relay(database, openTableQueue(database), ignore, fail);
  const hands = openHands(database, stages ? relay : undefined);
  const runner = new SessionRunner({
    transactions: hands.transactions,
    runtimes: { loop: stages ? new ScriptedAgents(hands, stages) : NO_AGENTS },
    claimer: { owner: 'worker', presence: null, leaseMs: LEASE_MS, rootId: ROOT.id },
    slots: 1,
    onHeld: ignore,
    onError: fail,
  });
  const log = { info: ignore, warn: ignore, error: (about: object) => fail(about) };
  const sequencer = new Sequencer(database, BUS, fail);
  const { transactions } = hands;
  return { hands, relay, runner, failures, sweeper: new Sweeper({ database, transactions, relay, sequencer, log, elected: () => true }) };
}

/** Runs turns until no job is left and nothing is being handed on. */
export async function workUntilRest({ hands, relay, runner }: Machine): Promise<void> {
  for (;;) {
    await relay.idle();
    const sessions = await takeJobs(hands.database);
    if (sessions.length === 0) return;
    for (const session of sessions) await runner.run(session);
  }
}
