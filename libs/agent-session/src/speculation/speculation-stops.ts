import type { StopReason } from '@echelon/agent-loop';

/**
 * What a run ahead is good for, by how it stopped. `turn`: a whole turn. `beginning`: the beginning of one, which goes on from there when
 * it is taken over. `nothing`: it is thrown away, and the person's prompt runs as if nothing had been tried.
 */
export const SPECULATION_STOPS: Readonly<Record<StopReason, 'turn' | 'beginning' | 'nothing'>> = {
  completed: 'turn',
  completed_empty: 'nothing',
  next_round: 'beginning',
  cancelled: 'nothing',
  loop_detected: 'nothing',
  duplicate_provider_call: 'nothing',
  tool_ended_turn: 'nothing',
  surface_ended: 'nothing',
  turn_cap: 'beginning',
  token_limit: 'beginning',
  prompt_blocked: 'nothing',
  output_limit: 'nothing',
  content_filtered: 'nothing',
  tool_format: 'nothing',
  budget_exhausted: 'beginning',
  parked: 'beginning',
  handed_over: 'beginning',
  error: 'nothing',
};
