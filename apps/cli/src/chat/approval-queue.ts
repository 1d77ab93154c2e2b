/** The calls that wait for the person, asked one after the other in the order in which they came. */
import type { ApprovalAnswer } from '@echelon/agent-loop';
import type { ApprovalRequest } from '@echelon/agent-session';
import type { OpenApproval } from './chat-item.js';

interface Asked {
  readonly title: string;
  readonly request: ApprovalRequest;
  readonly answer: PromiseWithResolvers<ApprovalAnswer>;
}

export class ApprovalQueue {
  private asked: readonly Asked[] = [];

  constructor(private readonly onChange: () => void) {}

  /** The one to be answered now. */
  get first(): OpenApproval | null {
    const [first, ...behind] = this.asked;
    return first === undefined ? null : { request: first.request, title: first.title, behind: behind.length };
  }

  /** Aborting the signal withdraws the question. */
  ask(request: ApprovalRequest, title: string, signal: AbortSignal): Promise<ApprovalAnswer> {
    const asked = { title, request, answer: Promise.withResolvers<ApprovalAnswer>() };
    this.asked = [...this.asked, asked];
    const withdraw = (): void => this.settle(asked, { decision: 'superseded' });
    signal.addEventListener('abort', withdraw, { once: true });
    if (signal.aborted) withdraw();
    this.onChange();
    return asked.answer.promise.finally(() => signal.removeEventListener('abort', withdraw));
  }

  /** Answers the first. */
  answer(answer: ApprovalAnswer): void {
    const [first] = this.asked;
    if (first !== undefined) this.settle(first, answer);
  }

  private settle(asked: Asked, answer: ApprovalAnswer): void {
    this.asked = this.asked.filter((other) => other !== asked);
    asked.answer.resolve(answer);
    this.onChange();
  }
}
