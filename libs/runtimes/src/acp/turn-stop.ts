/** How a turn of an agent over ACP ended, in the words of every other turn. */
import type { StopReason } from '@agentclientprotocol/sdk/unstable';
import type { UnifiedFinishReason, Usage } from '@echelon/agent-loop';
import type { TurnStop } from '@echelon/orchestration';

/** Why we ended the prompt before its agent did. */
export type Cut = 'lost' | 'stopped' | 'handed_over' | 'asked_parent' | 'asked_operator' | 'out_of_time';

/** What became of the prompt. */
export type PromptEnd =
  | { readonly end: 'answered'; readonly stopReason: StopReason; readonly usage: Usage }
  /** The agent answered with an error. */
  | { readonly end: 'failed'; readonly message: string }
  /** Its process is gone. */
  | { readonly end: 'crashed'; readonly message: string };

const CUTS: Readonly<Record<Cut, TurnStop>> = {
  lost: { reason: 'error', kind: 'lease_lost', message: 'another worker owns the session' },
  stopped: { reason: 'cancelled', by: 'stop' },
  handed_over: { reason: 'interrupted', explanation: 'its worker had to end' },
  asked_parent: { reason: 'tool_ended_turn', callId: '', tool: 'ask_parent_question_kandev' },
  asked_operator: { reason: 'tool_ended_turn', callId: '', tool: 'ask_user_question_kandev' },
  out_of_time: { reason: 'budget_exhausted', budget: 'wall_time' },
};

const ANSWERS: Readonly<Record<StopReason, TurnStop>> = {
  end_turn: { reason: 'completed' },
  max_tokens: { reason: 'output_limit' },
  max_turn_requests: { reason: 'budget_exhausted', budget: 'rounds' },
  refusal: { reason: 'prompt_blocked', explanation: 'the agent refused to go on' },
  cancelled: { reason: 'cancelled', by: 'signal' },
};

/** The same as a finish reason of a model, for the turn's row. */
export const FINISH_REASONS: Readonly<Record<StopReason, UnifiedFinishReason>> = {
  end_turn: 'stop',
  max_tokens: 'output_limit',
  max_turn_requests: 'other',
  refusal: 'content_filtered',
  cancelled: 'interrupted',
};

/** One place for every end; what we cut counts before what the agent then said. `spoke`: it said or did anything. */
export function toStop(cut: Cut | null, ended: PromptEnd, spoke: boolean): TurnStop {
  if (cut) return CUTS[cut];
  switch (ended.end) {
    case 'answered':
      return ended.stopReason === 'end_turn' && !spoke ? { reason: 'completed_empty', toolsAnswered: false } : ANSWERS[ended.stopReason];
    case 'failed':
      return { reason: 'error', kind: 'model_request', message: ended.message };
    case 'crashed':
      return { reason: 'interrupted', explanation: ended.message };
  }
}

/** The agent never got its prompt. */
export function notStarted(message: string): TurnStop {
  return { reason: 'error', kind: 'configuration', message };
}
