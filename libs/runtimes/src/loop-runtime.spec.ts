import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import type { ModelClient, ToolResult } from '@echelon/agent-loop';
import type { CatalogueTool } from '@echelon/tools';
import { z } from 'zod';
import { World } from '../../../test/support/world.js';
import { LoopRuntime } from './loop-runtime.js';

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

function work(execute: CatalogueTool['execute']): CatalogueTool {
  const about = { name: 'work', title: 'Work', description: 'Works.', input: z.strictObject({}) };
  return { ...about, effect: 'execute', concurrencySafe: false, idempotent: false, execute };
}

/** Runs a turn whose tool is told, once it runs, that the process hands over. */
async function handOver(handOverMs: number, finish: (signal: AbortSignal) => Promise<ToolResult>) {
  const leaving = new AbortController();
  const tool = work((_input, { signal }) => {
    leaving.abort();
    return finish(signal);
  });
  const runtime = new LoopRuntime({
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
    handOverMs,
    subagentDepth: 2,
    commandSlot: (work) => work(),
    onHookFailure: () => undefined,
  });
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
