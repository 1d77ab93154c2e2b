/** Compaction on a worker: real rows, a scripted model over HTTP, and a process that may die before or after any commit. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { createModelClient } from '@echelon/model-clients';
import { type ClaimedTurn, Transactions } from '@echelon/orchestration';
import { releaseLease } from '@echelon/persistence';
import { type ScriptedModel, type ScriptedRequest, type ScriptedResponse, startScriptedModel } from '@echelon/scripted-model';
import type { CatalogueTool } from '@echelon/tools';
import { z } from 'zod';
import { World } from '../../../test/support/world.js';
import { LoopRuntime } from './loop-runtime.js';

const WINDOW = 5_000;
/** Rounds of a turn; each adds about 1,000 tokens. */
const STEPS = 7;
const INPUT = z.strictObject({ step: z.int() });

let world: World;
let model: ScriptedModel;
let workspaceRoot: string;

beforeAll(async () => {
  world = await World.open();
  await world.rows('UPDATE agent_profile SET context_window = $1', [WINDOW]);
  model = await startScriptedModel({ script: answer });
  workspaceRoot = mkdtempSync(path.join(tmpdir(), 'echelon-compaction-'));
});
afterAll(async () => {
  await model.close();
  await world.close();
  rmSync(workspaceRoot, { recursive: true });
});

/** Works step by step; what is done already stands in results and summaries. */
function answer({ messages, tools }: ScriptedRequest): ScriptedResponse {
  const done = Math.max(0, ...[...JSON.stringify(messages).matchAll(/\[step (\d+)\]/g)].map(([, step]) => Number(step)));
  if (tools.length === 0) return { text: `All is done up to [step ${done}].` };
  if (done >= STEPS) return { text: 'Finished.' };
  return { toolCalls: [{ id: `call-${done + 1}`, name: 'work', arguments: { step: done + 1 } }] };
}

const work: CatalogueTool = {
  name: 'work',
  title: 'Work',
  description: 'Works.',
  input: INPUT,
  effect: 'read',
  concurrencySafe: true,
  idempotent: false,
  execute: (input) => Promise.resolve({ text: `[step ${INPUT.parse(input).step}] ${'done '.repeat(800)}`, isError: false }),
};

interface Death {
  /** Number of the transaction, from 0. */
  readonly at: number;
  readonly side: 'before' | 'after';
}

/** Transactions of a process that dies at one of them: what comes later never happens. */
class MortalTransactions extends Transactions {
  count = 0;

  constructor(private readonly death: Death | null) {
    super(world.database, { committed: () => undefined });
  }

  override async run<T>(intent: Parameters<typeof Transactions.prototype.run<T>>[0]): Promise<T> {
    const here = this.death !== null && this.death.at <= this.count;
    const last = this.death?.at === this.count++;
    if (here && !(last && this.death?.side === 'after')) throw new Error('died before the commit');
    const result = await super.run(intent);
    if (here) throw new Error('died after the commit');
    return result;
  }
}

/** Runs the claimed turn in a process of its own; `null`: it died. */
async function run(claimed: ClaimedTurn, transactions: MortalTransactions): Promise<string | null> {
  const runtime = new LoopRuntime({
    database: world.database,
    transactions,
    bus: {
      publish: () => undefined,
      subscribe: () => Promise.resolve(() => undefined),
      onReconnect: () => () => undefined,
      close: () => Promise.resolve(),
    },
    catalogue: { toolsFor: () => [work], find: () => null },
    clientOf: () => createModelClient({ dialect: 'chat_completions', baseUrl: model.url }),
    workspaceRoot,
    endCommand: () => Promise.resolve(true),
    handOverMs: 1_000,
    subagentDepth: 0,
    commandSlot: (command) => command(),
    onHookFailure: () => undefined,
  });
  const never = new AbortController().signal;
  const { stop, record } = await runtime.run(claimed, { stop: never, lost: never, handOver: never });
  if (stop.reason === 'error' && stop.kind === 'persistence') return null;
  await world.run(record);
  await world.endTurn(claimed);
  return stop.reason;
}

/** What the model is sent while `play` runs: ids replaced, a request that was sent again once. */
async function recordBodies(play: () => Promise<void>): Promise<readonly string[]> {
  const from = model.requests.length;
  await play();
  const bodies = model.requests.slice(from).map(({ rawBody }) => rawBody.replaceAll(/[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}/g, 'id'));
  return bodies.filter((body, at) => body !== bodies[at - 1]);
}

function isSummary(body: string): boolean {
  return !body.includes('"tools"');
}

test('a long turn is compacted, the transcript stays whole, and the next turn starts from the summary [G7.12][G8.37]', async () => {
  const { sessionId } = await world.task();
  const bodies = await recordBodies(async () => {
    expect(await run(await world.openTurn(sessionId), new MortalTransactions(null))).toBe('completed');
  });
  const summaries = bodies.filter(isSummary).length;
  expect(summaries).toBeGreaterThan(1);
  const counts = await world.rows<{ type: string; count: number }>(
    'SELECT type, count(*)::int AS count FROM message WHERE session_id = $1 GROUP BY type ORDER BY type',
    [sessionId],
  );
  expect(Object.fromEntries(counts.map(({ type, count }) => [type, count]))).toEqual({
    compaction: summaries,
    prompt: 1,
    response: STEPS + 1,
    tool_result: STEPS,
  });
  const [spent] = await world.rows<{ turn: string; requests: string }>(
    `SELECT (SELECT sum(input_tokens + output_tokens)::text FROM turn WHERE session_id = $1) AS turn,
            (SELECT sum(input_tokens + output_tokens)::text FROM model_request WHERE session_id = $1) AS requests`,
    [sessionId],
  );
  expect(spent?.turn).toBe(spent?.requests);
  const [next = ''] = await recordBodies(async () => void (await run(await world.openTurn(sessionId), new MortalTransactions(null))));
  const last = bodies.at(-1) ?? '';
  expect(next.includes('[step 1]')).toBe(false);
  expect(next.startsWith(messagesOf(last))).toBe(true);
});

/** A body up to the end of its messages. */
function messagesOf(body: string): string {
  return body.slice(0, body.lastIndexOf('}],"tools"'));
}

test('wherever the worker dies around a compaction, it sends what it would have sent, byte for byte [G7.9][G8.38]', async () => {
  const alive = new MortalTransactions(null);
  const compactions: number[] = [];
  model.setScript((request) => {
    if (request.tools.length === 0) compactions.push(alive.count);
    return answer(request);
  });
  const expected = await recordBodies(async () => {
    const { sessionId } = await world.task();
    await run(await world.openTurn(sessionId), alive);
  });
  expect(compactions.length).toBeGreaterThan(1);
  model.setScript(answer);
  for (const compaction of compactions) {
    for (const at of [compaction - 1, compaction, compaction + 1]) {
      for (const side of ['before', 'after'] as const) {
        expect(await recordBodies(() => playOverDeath({ at, side }))).toEqual(expected);
      }
    }
  }
}, 120_000);

async function playOverDeath(death: Death): Promise<void> {
  const { sessionId } = await world.task();
  expect(await run(await world.openTurn(sessionId), new MortalTransactions(death))).toBeNull();
  await world.run((unit) => Promise.resolve(releaseLease(unit, sessionId, 'idle')));
  expect(await run(await world.claim(sessionId), new MortalTransactions(null))).toBe('completed');
}
