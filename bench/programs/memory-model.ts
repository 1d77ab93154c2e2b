import type { ModelClient, ModelEvent, ModelRequest } from '@echelon/agent-loop';
import { lineArguments } from './read-line.js';

/** A model in this process: one call per round, then the end after `rounds` of them. */
export function createMemoryModel(rounds: number): ModelClient {
  return { stream: (request) => respond(request, rounds) };
}

const USAGE = { inputTokens: 100, outputTokens: 10, cachedInputTokens: null, reasoningTokens: null };

async function* respond({ messages }: ModelRequest, rounds: number): AsyncGenerator<ModelEvent> {
  const number = (messages.length + 1) / 2;
  if (number > rounds) {
    yield { type: 'content', text: 'All lines are read.' };
    yield { type: 'finished', reason: 'stop', rawReason: 'stop', usage: USAGE };
    return;
  }
  yield { type: 'tool_call', call: { callId: `call-${number}`, name: 'read_line', arguments: lineArguments(number) } };
  yield { type: 'finished', reason: 'tool_calls', rawReason: 'tool_calls', usage: USAGE };
}
