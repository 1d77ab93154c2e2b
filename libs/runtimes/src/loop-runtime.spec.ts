import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import type { ModelClient, ModelMessage, ToolResult } from '@echelon/agent-loop';
import { waitFor } from '@echelon/testkit';
import type { CatalogueTool } from '@echelon/tools';
import { z } from 'zod';
import { World } from '../../../test/support/world.js';
import { LoopRuntime, type LoopRuntimeOptions } from './loop-runtime.js';

let world: World;
let workspaceRoot: string;

beforeAll(async () => {
  world = await World.open();
  workspaceRoot = mkdtempSync(path.join(tmpdir(), 'echelon-runtime-'));
});
afterAll(async () => {
  await world.close();
  rmSync(workspaceRoot, { recursive: true });
});

/** Calls the tool `work` once. */
const client: ModelClient = {
  async *stream() {
    yield { type: 'tool_call', call: { callId: 'call-1', name: 'work', arguments: '{}' } };
    const usage = { inputTokens: 1, outputTokens: 1, cachedInputTokens: null, reasoningTokens: null };
    yield { type: 'finished', reason: 'tool_calls', rawReason: 'tool_calls', usage };
  },
};

/** Answers `1`, then `2`, and keeps what it was sent. */
function answering(sent: (readonly ModelMessage[])[]): ModelClient {
  return {
    async *stream({ messages }) {
      sent.push([...messages]);
      yield { type: 'content', text: `${sent.length}` };
      const usage = { inputTokens: 1, outputTokens: 1, cachedInputTokens: null, reasoningTokens: null };
      yield { type: 'finished', reason: 'stop', rawReason: 'stop', usage };
    },
  };
}

function work(execute: CatalogueTool['execute']): CatalogueTool {
  const about = { name: 'work', title: 'Work', description: 'Works.', input: z.strictObject({}) };
  return { ...about, effect: 'execute', concurrencySafe: false, idempotent: false, execute };
}

function openRuntime(tool: CatalogueTool, given: Partial<LoopRuntimeOptions> = {}): LoopRuntime {
  return new LoopRuntime({
    database: world.database,
    transactions: world.transactions,
    bus: {
      publish: () => undefined,
      subscribe: () => Promise.resolve(() => undefined),
      onReconnect: () => () => undefined,
      close: () => Promise.resolve(),
    },
    catalogue: { toolsFor: () => [tool], find: () => null },
    clientOf: () => client,
    workspaceRoot,
    endCommand: () => Promise.resolve(true),
    handOverMs: 25_000,
    subagentDepth: 2,
    commandSlot: (run) => run(),
    onHookFailure: () => undefined,
    ...given,
  });
}

/** Runs a turn whose tool is told, once it runs, that the process hands over. */
async function handOver(handOverMs: number, finish: (signal: AbortSignal) => Promise<ToolResult>) {
  const leaving = new AbortController();
  const tool = work((_input, { signal }) => {
    leaving.abort();
    return finish(signal);
  });
  const runtime = openRuntime(tool, { handOverMs });
  const { sessionId } = await world.task();
  const never = new AbortController().signal;
  const report = await runtime.run(await world.openTurn(sessionId), { stop: never, lost: never, handOver: leaving.signal });
  await world.run(report.record);
  const [call] = await world.rows<{ state: string }>('SELECT state FROM tool_call WHERE session_id = $1', [sessionId]);
  return { stop: report.stop.reason, call: call?.state };
}

test('a tool that runs at a hand-over has the seconds that an operator gives it, and then its outcome is unknown [K23, O21]', async () => {
  const done = { text: 'done', isError: false };
  expect(await handOver(25_000, () => Promise.resolve(done))).toEqual({ stop: 'handed_over', call: 'done' });
  const interrupted = await handOver(10, async (signal) => {
    await new Promise((resolve) => signal.addEventListener('abort', resolve, { once: true }));
    return { text: 'killed', isError: true };
  });
  expect(interrupted).toEqual({ stop: 'handed_over', call: 'intent' });
});

test('the commands of hooks take command slots; one that fails is told with its turn; a stop ends one that runs, and its call never starts [K24]', async () => {
  const told: unknown[] = [];
  const stop = new AbortController();
  let slots = 0;
  const tool = work(() => Promise.reject(new Error('the call has started')));
  const runtime = openRuntime(tool, {
    commandSlot: (run) => {
      slots++;
      return run();
    },
    onHookFailure: (failure) => told.push(failure),
  });
  const { sessionId } = await world.task();
  const hooks = { prompt_submit: [{ command: 'exit 1' }], before_tool: [{ command: 'touch begun; sleep 641', on_failure: 'block' }] };
  const [place] = await world.rows<{ folder: string }>(
    `WITH hooked AS (UPDATE agent_profile p SET hooks = $2 FROM session s WHERE s.id = $1 AND p.id = s.profile_id)
     SELECT t.folder FROM session s JOIN task t ON t.id = s.task_id WHERE s.id = $1`,
    [sessionId, JSON.stringify(hooks)],
  );
  const claimed = await world.openTurn(sessionId);
  const never = new AbortController().signal;
  const run = runtime.run(claimed, { stop: stop.signal, lost: never, handOver: never });
  await waitFor('the hook runs', () => existsSync(path.join(workspaceRoot, place?.folder ?? '', 'begun')));
  stop.abort();
  expect((await run).stop).toEqual({ reason: 'cancelled', by: 'signal' });
  expect(slots).toBe(2);
  const message = 'The prompt_submit hook "exit 1" failed: it ended with exit code 1.';
  expect(told).toEqual([{ event: 'prompt_submit', hook: 'exit 1', message, blocked: false, sessionId, turnId: claimed.turn.id }]);
});

test.each([
  ['whose lease was lost', 'lost', 'cancelled', 1],
  ['whose lease was lost', 'lost', 'cancelled', 2],
  ['that handed over', 'handOver', 'handed_over', 1],
  ['that handed over', 'handOver', 'handed_over', 2],
] as const)(
  'the stop hook of a worker %s is asked again by the next one, and only its block sends a request (%#) [G7.9, K23]',
  async (_title, ends, reason, lets) => {
    const place = await world.elsewhere();
    const command = `echo x >> asked; test -f go || sleep 641; test $(wc -l < asked) -gt ${lets} || { echo Check. >&2; exit 2; }`;
    await world.rows('UPDATE agent_profile SET hooks = $2 WHERE workspace_id = $1 RETURNING id', [
      place.workspaceId,
      JSON.stringify({ stop: [{ command }] }),
    ]);
    const sent: (readonly ModelMessage[])[] = [];
    const runtime = openRuntime(
      work(() => Promise.reject(new Error('nothing is called'))),
      { clientOf: () => answering(sent), handOverMs: 10 },
    );
    const { sessionId } = await place.task();
    const claimed = await place.openTurn(sessionId);
    const never = new AbortController().signal;
    const signals = { stop: never, lost: never, handOver: never };
    const leaving = new AbortController();
    const folder = path.join(workspaceRoot, claimed.task.folder);
    const first = runtime.run(claimed, { ...signals, [ends]: leaving.signal });
    await waitFor('the hook runs', () => existsSync(path.join(folder, 'asked')));
    leaving.abort();
    expect((await first).stop.reason).toBe(reason);
    await place.handOver(claimed);
    writeFileSync(path.join(folder, 'go'), '');
    expect((await runtime.run(await place.claim(sessionId), signals)).stop).toEqual({ reason: 'completed' });
    expect(readFileSync(path.join(folder, 'asked'), 'utf8')).toBe('x\n'.repeat(lets + 1));
    expect(sent).toHaveLength(lets);
    expect(sent.at(-1)?.map(({ role }) => role)).toEqual(lets === 1 ? ['user'] : ['user', 'assistant', 'user']);
  },
);
