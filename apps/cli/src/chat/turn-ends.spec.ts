import { expect, test } from '@jest/globals';
import type { StopReason } from '@echelon/agent-loop';
import { describeEnd } from './turn-ends.js';

const REASONS: Readonly<Record<StopReason, object>> = {
  completed: {},
  completed_empty: { toolsAnswered: false },
  next_round: {},
  cancelled: { by: 'signal' },
  loop_detected: { explanation: 'again and again' },
  duplicate_provider_call: { callId: 'c1' },
  tool_ended_turn: { callId: 'c1', tool: 'ask' },
  surface_ended: {},
  turn_cap: { cap: 3 },
  token_limit: { limit: 10, used: 11 },
  prompt_blocked: { explanation: 'not this' },
  output_limit: {},
  content_filtered: {},
  tool_format: {},
  budget_exhausted: { budget: 'tokens' },
  parked: { for: [] },
  handed_over: {},
  error: { kind: 'model', message: 'it broke' },
};

test.each(Object.entries(REASONS))(
  'a turn that ends with %s has a sentence of its own, and no other end looks like success [G3.7]',
  (reason, facts) => {
    const { level, text } = describeEnd({ reason, ...facts } as Parameters<typeof describeEnd>[0]);
    expect(text).toMatch(/^\S.*\S$/);
    expect(level === 'info').toBe(['completed', 'tool_ended_turn', 'surface_ended'].includes(reason));
  },
);
