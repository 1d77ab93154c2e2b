/** What each way to end means for a run: one exhaustive table (agent-loop.md §3), so that no reason is dropped and told as a success. */
import type { LoopStop, StopReason } from '@echelon/agent-loop';
import { EXIT } from '../exit-code.js';
import type { ResultSubtype } from './frames.js';

export interface Verdict {
  readonly subtype: ResultSubtype;
  readonly exitCode: number;
  /** For people. */
  readonly message: string;
}

export const OUTCOMES: Readonly<Record<StopReason, Verdict>> = {
  completed: { subtype: 'success', exitCode: EXIT.ok, message: 'Done.' },
  completed_empty: { subtype: 'success', exitCode: EXIT.ok, message: 'The model ended without a text.' },
  tool_ended_turn: { subtype: 'success', exitCode: EXIT.ok, message: 'A tool ended the turn.' },
  surface_ended: { subtype: 'success', exitCode: EXIT.ok, message: 'The result was given.' },
  cancelled: { subtype: 'cancelled', exitCode: EXIT.interrupted, message: 'The run was cancelled.' },
  turn_cap: { subtype: 'error_max_turns', exitCode: EXIT.turnCap, message: 'The run has had its last turn (--max-turns).' },
  budget_exhausted: { subtype: 'error_budget', exitCode: EXIT.budget, message: 'A budget of the run is spent' },
  token_limit: { subtype: 'error_token_limit', exitCode: EXIT.budget, message: 'The conversation has reached its token limit.' },
  loop_detected: { subtype: 'error_loop', exitCode: EXIT.failed, message: 'The model runs in circles' },
  duplicate_provider_call: { subtype: 'error_loop', exitCode: EXIT.failed, message: 'The model repeats a call that was answered already.' },
  prompt_blocked: { subtype: 'error_prompt_blocked', exitCode: EXIT.failed, message: 'A hook blocked the prompt' },
  output_limit: { subtype: 'error_output_limit', exitCode: EXIT.failed, message: 'The answer was cut off at the output limit.' },
  content_filtered: { subtype: 'error_content_filtered', exitCode: EXIT.failed, message: 'The provider filtered the answer.' },
  tool_format: {
    subtype: 'error_tool_format',
    exitCode: EXIT.failed,
    message: 'The model called its tools in a form that nobody can read.',
  },
  error: { subtype: 'error_during_execution', exitCode: EXIT.failed, message: 'The turn failed' },
  parked: {
    subtype: 'error_unfinished',
    exitCode: EXIT.failed,
    message: 'The turn waits for something that takes too long; try again later.',
  },
  handed_over: { subtype: 'error_unfinished', exitCode: EXIT.failed, message: 'The turn was left for another process.' },
  next_round: { subtype: 'error_unfinished', exitCode: EXIT.failed, message: 'The turn stopped between two rounds.' },
};

const NO_RESULT: Verdict = {
  subtype: 'error_structured_output',
  exitCode: EXIT.failed,
  message: 'The model ended without a result that fits the schema (--json-schema).',
};

export const CANCELLED = OUTCOMES.cancelled;

/** What the input was wrong with; what it said right was done. */
export function inputVerdict(message: string): Verdict {
  return { subtype: 'error_input', exitCode: EXIT.usage, message };
}

/** The verdict on a turn; `missesResult`: it was to give a result of a certain shape, and did not. */
export function judgeTurn(stop: LoopStop, { missesResult }: { readonly missesResult: boolean }): Verdict {
  const verdict = judgeStop(stop);
  return missesResult && verdict.subtype === 'success' ? NO_RESULT : verdict;
}

/** With what the stop says of itself. */
function judgeStop(stop: LoopStop): Verdict {
  const outcome = OUTCOMES[stop.reason];
  const detail = detailOf(stop);
  return detail === null ? outcome : { ...outcome, message: `${outcome.message}: ${detail}.` };
}

function detailOf(stop: LoopStop): string | null {
  if ('explanation' in stop) return stop.explanation.replace(/\.$/, '');
  if ('message' in stop) return stop.message.replace(/\.$/, '');
  return 'budget' in stop ? stop.budget : null;
}

/** No further prompt of the same run could do better. */
export function endsRun({ reason }: LoopStop): boolean {
  return reason === 'turn_cap' || reason === 'budget_exhausted' || reason === 'token_limit';
}
