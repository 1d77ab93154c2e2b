import type { LoopEvent } from '../loop-events.js';
import type { LoopInput, LoopResult } from '../loop-input.js';
import { runLoop } from '../loop.js';
import type { ModelMessage, ToolResultPart } from '../model-port.js';
import { createToolRegistry } from '../tool-registry.js';
import type { ToolDefinition } from '../tool-port.js';
import type { z } from 'zod';
import { ManualClock } from './manual-clock.js';
import { scriptedClient, type Script, type ScriptedClient } from './scripted-client.js';
import { ask, question, read, write, type TestContext } from './tools.js';

export interface TestRun extends LoopResult {
  readonly client: ScriptedClient;
  readonly events: readonly LoopEvent[];
  readonly context: TestContext;
  readonly history: readonly ModelMessage[];
}

export interface TestInput extends Partial<Omit<LoopInput<TestContext>, 'tools' | 'models'>> {
  readonly tools?: readonly ToolDefinition<z.ZodType, TestContext>[];
  readonly models?: LoopInput<TestContext>['models'];
  /** Of the scripted model. */
  readonly contextWindow?: number;
}

/** Runs a loop on a scripted model. Retry waits pass at once; no event of the run is lost. */
export async function play(scripts: readonly Script[] | ScriptedClient, input: TestInput = {}): Promise<TestRun> {
  const client = 'stream' in scripts ? scripts : scriptedClient(scripts);
  const events: LoopEvent[] = [];
  const context: TestContext = input.context ?? { started: [], finished: [] };
  const start = input.start ?? { history: [], opening: { parts: [{ type: 'text', text: 'go' }], sendType: 'user' } };
  const result = await runLoop<TestContext>({
    system: 'You are a test.',
    turn: 't1',
    promptId: 'p1',
    signal: new AbortController().signal,
    clock: new ManualClock({ skipUpTo: 30_000 }),
    models: [{ client, model: 'm1', ...(input.contextWindow === undefined ? {} : { contextWindow: input.contextWindow }) }],
    ...input,
    start,
    context,
    onEvent: (event) => {
      events.push(event);
      input.onEvent?.(event);
    },
    tools: createToolRegistry(input.tools ?? [read, write, ask, question]),
  });
  return { ...result, client, events, context, history: start.history };
}

/** The results of the last tool message, by call id. */
export function lastResults(history: readonly ModelMessage[]): Record<string, ToolResultPart> {
  const last = history.findLast((message) => message.role === 'tool');
  return Object.fromEntries((last?.parts ?? []).map((part) => [part.call_id, part]));
}

/** Every message as one short line, for comparing sequences. */
export function outline(history: readonly ModelMessage[]): string[] {
  return history.map((message) => `${message.role}: ${message.parts.map(outlinePart).join(' | ')}`);
}

function outlinePart(part: ModelMessage['parts'][number]): string {
  switch (part.type) {
    case 'tool_call':
      return `${part.name}#${part.call_id}`;
    case 'tool_result':
      return `#${part.call_id}${part.is_error ? ' error' : ''}`;
    default:
      return part.text;
  }
}
