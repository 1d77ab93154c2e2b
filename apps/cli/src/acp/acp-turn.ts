/** One turn of a session under the eyes of an editor: the policies of this surface, and nothing of the loop (agent-loop.md §1). */
import type { LoopLimits, TextPart } from '@echelon/agent-loop';
import type { AgentSession, ApprovalRequest, TurnSurface } from '@echelon/agent-session';
import type { AgentContext, PromptResponse } from '@agentclientprotocol/sdk/unstable';
import { DECLINED, requestPermission } from './permission-request.js';
import { toPromptEnd, toPromptError } from './prompt-end.js';
import { PromptUpdates, type PromptUpdatesOptions } from './prompt-updates.js';

export interface AcpTurnOptions extends Omit<PromptUpdatesOptions, 'folder' | 'todos'> {
  readonly session: AgentSession;
  readonly client: AgentContext;
  readonly limits: LoopLimits;
  readonly onHookFailure: NonNullable<TurnSurface['onHookFailure']>;
}

export class AcpTurn {
  readonly updates: PromptUpdates;
  private readonly cancelling = new AbortController();
  /** A person declined a call: the rest of its batch is not started, and the prompt ends. */
  private declined = false;

  constructor(private readonly options: AcpTurnOptions) {
    const { session } = options;
    this.updates = new PromptUpdates({ ...options, folder: session.folder, todos: () => session.todos });
  }

  cancel(): void {
    this.cancelling.abort();
  }

  get isCancelled(): boolean {
    return this.cancelling.signal.aborted;
  }

  /** Throws a `RequestError` where the turn failed. A cancel wins over every other end. */
  async run(parts: readonly TextPart[]): Promise<PromptResponse> {
    const { stop } = await this.options.session.prompt(parts, this.surface());
    if (this.isCancelled) return this.respond('cancelled');
    const end = toPromptEnd(stop);
    if ('code' in end) throw toPromptError(end, stop);
    if (end.say !== undefined) this.updates.say(end.say);
    return this.respond(end.stopReason);
  }

  private surface(): TurnSurface {
    const { limits, onHookFailure } = this.options;
    const { calls, onEvent } = this.updates;
    return {
      signal: this.cancelling.signal,
      onEvent,
      limits,
      onHookFailure,
      keepsToTodos: true,
      approve: (request, signal) => this.approve(request, signal),
      policies: {
        select: (open) => {
          calls.announce(open);
          return new Map();
        },
        beforeToolLaunch: () => !this.declined,
        onResults: (results) => {
          calls.conclude(results);
          return this.declined ? 'end' : 'go_on';
        },
      },
    };
  }

  /** A refusal that a subagent hears is its own matter: its calls were not announced. */
  private async approve(request: ApprovalRequest, signal: AbortSignal): ReturnType<NonNullable<TurnSurface['approve']>> {
    const { client, session } = this.options;
    const isOwn = this.updates.calls.has(request.callId);
    if (isOwn && this.declined) return { decision: 'deny', reason: 'Not executed: another call of this response was declined.' };
    const answer = await requestPermission({ client, sessionId: session.id, folder: session.folder, request, signal });
    if (answer.decision === 'cancelled') {
      this.cancel();
      return { decision: 'superseded' };
    }
    if (isOwn && answer.decision === 'deny' && answer.reason === DECLINED) this.declined = true;
    return answer;
  }

  private respond(stopReason: PromptResponse['stopReason']): PromptResponse {
    const { usage } = this.updates;
    return { stopReason, ...(usage === null ? {} : { usage }) };
  }
}
