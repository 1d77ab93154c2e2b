import { expect, test } from '@jest/globals';
import type { LoopStop } from '@echelon/agent-loop';
import { toPromptEnd, toPromptError } from './prompt-end.js';

const ENDS: readonly (readonly [LoopStop, string])[] = [
  [{ reason: 'completed' }, 'end_turn'],
  [{ reason: 'completed_empty', toolsAnswered: false }, 'end_turn'],
  [{ reason: 'tool_ended_turn', callId: 'c1', tool: 'ask' }, 'end_turn'],
  [{ reason: 'surface_ended' }, 'end_turn'],
  [{ reason: 'cancelled', by: 'signal' }, 'cancelled'],
  [{ reason: 'next_round' }, 'max_turn_requests'],
  [{ reason: 'turn_cap', cap: 3 }, 'max_turn_requests'],
  [{ reason: 'budget_exhausted', budget: 'launches' }, 'max_turn_requests'],
  [{ reason: 'budget_exhausted', budget: 'wall_time' }, 'max_turn_requests'],
  [{ reason: 'budget_exhausted', budget: 'tokens' }, 'max_tokens'],
  [{ reason: 'token_limit', limit: 10, used: 11 }, 'max_tokens'],
  [{ reason: 'output_limit' }, 'max_tokens'],
  [{ reason: 'prompt_blocked', explanation: 'no' }, 'refusal'],
  [{ reason: 'content_filtered' }, 'refusal'],
];

const FAILURES: readonly (readonly [LoopStop, string])[] = [
  [{ reason: 'loop_detected', explanation: 'again' }, 'loop_detected'],
  [{ reason: 'duplicate_provider_call', callId: 'c1' }, 'duplicate_provider_call'],
  [{ reason: 'tool_format' }, 'tool_format'],
  [{ reason: 'parked', for: [] }, 'parked'],
  [{ reason: 'handed_over' }, 'handed_over'],
  [{ reason: 'error', kind: 'stream_interrupted', message: 'it broke' }, 'stream_interrupted'],
];

test.each(ENDS)('%j is an answer: %s [G3.7]', (stop, stopReason) => {
  expect(toPromptEnd(stop)).toMatchObject({ stopReason });
});

test.each(FAILURES)('%j is an error, so that nobody takes it for a success: %s [G3.7]', (stop, code) => {
  const end = toPromptEnd(stop);
  if (!('code' in end)) throw new Error('it is an answer');
  expect(toPromptError(end, stop)).toMatchObject({ code: -32603, message: end.message, data: { code, stop_reason: stop.reason } });
});
