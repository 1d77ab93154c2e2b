/** Asks the client of a run whether a call may run: `can_use_tool` (docs/headless.md). Who does not answer in time has said no. */
import type { ApprovalAnswer } from '@echelon/agent-loop';
import type { ApprovalRequest } from '@echelon/agent-session';
import type { ControlAnswer, OutputFrame } from './frames.js';

interface Waiting {
  readonly settle: (answer: ApprovalAnswer) => void;
}

export class PermissionPrompts {
  /** `null`: answered, timed out or cancelled; what comes for it now is late. */
  private readonly requests = new Map<string, Waiting | null>();
  private closed = false;

  constructor(
    private readonly write: (frame: OutputFrame) => void,
    private readonly timeoutMs: number,
  ) {}

  ask(request: ApprovalRequest, signal: AbortSignal): Promise<ApprovalAnswer> {
    if (this.closed) return Promise.resolve(CLOSED);
    const id = `permission-${this.requests.size + 1}`;
    const { promise, resolve } = Promise.withResolvers<ApprovalAnswer>();
    const giveUp = (reason: string): void => {
      this.write({ type: 'control_cancel_request', request_id: id });
      settle({ decision: 'deny', reason });
    };
    const timer = setTimeout(() => giveUp(`nobody answered within ${this.timeoutMs / 1_000} s`), this.timeoutMs);
    const cancel = (): void => giveUp('the turn was cancelled');
    const settle = (answer: ApprovalAnswer): void => {
      clearTimeout(timer);
      signal.removeEventListener('abort', cancel);
      this.requests.set(id, null);
      resolve(answer);
    };
    signal.addEventListener('abort', cancel, { once: true });
    this.requests.set(id, { settle });
    this.write({ type: 'control_request', request_id: id, request: toRequest(request) });
    return promise;
  }

  /** Returns whether such a request was ever made. */
  answer({ response }: ControlAnswer): boolean {
    const waiting = this.requests.get(response.request_id);
    waiting?.settle(toAnswer(response));
    return waiting !== undefined;
  }

  /** Nobody can answer any more. */
  close(): void {
    this.closed = true;
    for (const waiting of this.requests.values()) waiting?.settle(CLOSED);
  }
}

const CLOSED: ApprovalAnswer = { decision: 'deny', reason: 'the client has closed its input and cannot approve it' };

function toRequest({ callId, tool, title, effect, input, grant }: ApprovalRequest) {
  return { subtype: 'can_use_tool', tool_use_id: callId, tool_name: tool, title, effect, input: { ...input }, grant } as const;
}

function toAnswer(response: ControlAnswer['response']): ApprovalAnswer {
  if (response.subtype === 'error') return { decision: 'deny', reason: response.error };
  const answer = response.response;
  if (answer.behavior === 'allow') return { decision: 'allow', always: answer.always };
  return { decision: 'deny', reason: answer.message ?? 'the person denied it' };
}
