/** One turn of a chat as the session runs it: the callbacks of this surface, and nothing of the loop (agent-loop.md §1). */
import type { ApprovalAnswer, LoopLimits } from '@echelon/agent-loop';
import type { ApprovalRequest, TurnSurface } from '@echelon/agent-session';
import { viewCall } from '../acp/call-view.js';
import type { ApprovalQueue } from './approval-queue.js';
import { describeCall } from './call-details.js';
import { toLine } from './plain-text.js';
import type { Transcript } from './transcript.js';

export interface ChatTurnFacts {
  readonly folder: string;
  readonly transcript: Transcript;
  readonly approvals: ApprovalQueue;
  readonly limits: LoopLimits;
  /** Stops the turn. */
  readonly signal: AbortSignal;
  /** Called before each event is shown: what joined the conversation before it is shown first. */
  readonly beforeEvent: () => void;
  readonly onChange: () => void;
}

export function openTurnSurface(facts: ChatTurnFacts): TurnSurface {
  const { transcript, signal, limits, beforeEvent, onChange } = facts;
  return {
    signal,
    limits,
    onHookFailure: ({ message }) => {
      transcript.add({ type: 'notice', level: 'warning', text: message });
      onChange();
    },
    onEvent: (event) => {
      beforeEvent();
      transcript.take(event);
      onChange();
    },
    approve: (request, withdrawn) => ask(facts, request, withdrawn),
    policies: {
      select: (calls) => {
        transcript.announce(calls);
        onChange();
        return new Map();
      },
      onResults: (results) => {
        transcript.conclude(results);
        onChange();
        return 'go_on';
      },
    },
  };
}

function ask({ folder, transcript, approvals }: ChatTurnFacts, request: ApprovalRequest, signal: AbortSignal): Promise<ApprovalAnswer> {
  const title = toLine(viewCall(request.tool, request.input, folder).title);
  transcript.add({ type: 'asked', title, details: describeCall(request) });
  return approvals.ask(request, title, signal);
}
