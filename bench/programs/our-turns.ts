/** Turns of the product with one tool of the measurement: claimed, journaled and settled as any turn, without a queue in between. */
import { createToolRegistry, runLoop, type ToolDefinition } from '@echelon/agent-loop';
import { createModelClient } from '@echelon/model-clients';
import {
  type AgentRuntime,
  type ClaimedTurn,
  loadStartingPoint,
  Sequencer,
  SessionRunner,
  Transactions,
  TurnJournal,
} from '@echelon/orchestration';
import { newId, registerRoot } from '@echelon/persistence';
import { createPlatform, type Platform, readConfig } from '@echelon/platform';
import type { JournaledLoop } from './journaled-runners.js';
import { accepted, createProfile, createWorkspace, OPERATOR } from './platform-setup.js';
import { OPENING, SYSTEM } from './read-line.js';

const LEASE_MS = 600_000;

interface Work {
  readonly model: string;
  readonly tool: ToolDefinition;
}

export async function openTurns(modelUrl: string, { events }: { readonly events: boolean }): Promise<JournaledLoop> {
  const platform = await createPlatform(readConfig(), { worker: false });
  const root = { id: newId(), host: 'bench', path: platform.config.workspaceRoot };
  await platform.database.transaction(async (tx) => registerRoot(tx, root));
  const sequencer = new Sequencer(platform.database, platform.bus, fail);
  const committed = events ? sequencer.nudge : () => undefined;
  const transactions = new Transactions(platform.database, { committed }, platform.config.limits.turns_per_tree);
  const work = new Map<string, Work>();
  const runner = new SessionRunner({
    transactions,
    runtimes: { loop: createRuntime(platform, transactions, { modelUrl, workOf: (sessionId) => workOf(work, sessionId) }) },
    claimer: { owner: 'bench', presence: null, leaseMs: LEASE_MS, rootId: root.id },
    slots: 1_000,
    onHeld: () => undefined,
    onError: fail,
  });
  const createSession = await openSessions(platform);
  const prepared: string[] = [];
  return {
    prepare: async (runs) => {
      for (let made = 0; made < runs; made++) prepared.push(await createSession());
    },
    run: async (model, tool) => {
      const sessionId = prepared.pop();
      if (sessionId === undefined) throw new Error('no task was prepared');
      work.set(sessionId, { model, tool });
      await runner.run(sessionId);
      work.delete(sessionId);
    },
    close: () => sequencer.close().then(() => platform.close()),
  };
}

function workOf(work: ReadonlyMap<string, Work>, sessionId: string): Work {
  const found = work.get(sessionId);
  if (!found) throw new Error('a session that was not asked for');
  return found;
}

function fail(error: unknown): never {
  throw error;
}

/** What the loop runtime does, with another tool and without what depends on the task. */
function createRuntime(
  { database }: Platform,
  transactions: Transactions,
  { modelUrl, workOf: find }: { readonly modelUrl: string; readonly workOf: (sessionId: string) => Work },
): AgentRuntime {
  const client = createModelClient({ dialect: 'chat_completions', baseUrl: modelUrl });
  return {
    run: async (claimed: ClaimedTurn, { stop: signal, handOver }) => {
      const { model, tool } = find(claimed.session.id);
      const journal = new TurnJournal(transactions, claimed);
      const { stop, unrecorded } = await runLoop({
        start: await loadStartingPoint(database, claimed),
        models: [{ client, model }],
        system: SYSTEM,
        tools: createToolRegistry([tool]),
        context: undefined,
        turn: `t${claimed.turn.number}`,
        promptId: claimed.turn.id,
        journal,
        signal,
        handOver,
      });
      if (stop.reason !== 'completed') throw new Error(`the turn ended with ${JSON.stringify(stop)}`);
      return { stop, record: (unit) => journal.record(unit, unrecorded) };
    },
  };
}

/** Makes tasks whose agent has not begun; gives their sessions. */
async function openSessions({ services }: Platform): Promise<() => Promise<string>> {
  const workspace_id = await createWorkspace(services);
  const profile_id = await createProfile(services, workspace_id, 'loop');
  return async () => {
    const given = { workspace_id, profile_id, prompt: OPENING, autopilot: false, blocked_by: [], start_agent: true };
    const { primary_session_id: sessionId } = accepted(await services.tasks.create(OPERATOR, given, null));
    if (sessionId === null) throw new Error('a task without a session');
    return sessionId;
  };
}
