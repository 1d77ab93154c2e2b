/**
 * A session as an editor holds it.
 *
 * P1  One turn at a time. A prompt that comes while a turn runs joins it after its next tools, and ends with it; one that found no such
 *     place is a turn of its own.
 * P2  A cancel ends the running turn and every prompt that waits.
 */
import type { LoopLimits, TextPart } from '@echelon/agent-loop';
import type { AgentSession } from '@echelon/agent-session';
import type { PermissionMode } from '@echelon/domain';
import { type AgentContext, methods, type PromptResponse, type SessionUpdate } from '@agentclientprotocol/sdk/unstable';
import { AcpTurn } from './acp-turn.js';
import { toHistoryUpdates } from './history-updates.js';
import { toPlan } from './prompt-updates.js';

export interface AcpSessionOptions {
  readonly limits: LoopLimits;
  readonly contextWindow: number | undefined;
  readonly takesNotices: boolean;
  /** Said once, with the first prompt: what the editor asked for and does not get. */
  readonly warning: string | null;
  /** For the log of the editor. */
  readonly log: (line: string) => void;
}

interface WaitingPrompt {
  readonly parts: readonly TextPart[];
  readonly client: AgentContext;
  readonly end: PromiseWithResolvers<PromptResponse>;
}

export class AcpSession {
  private turn: AcpTurn | null = null;
  private ended: Promise<unknown> = Promise.resolve();
  private waiting: readonly WaitingPrompt[] = [];
  private warning: string | null;

  constructor(
    private readonly session: AgentSession,
    private readonly options: AcpSessionOptions,
  ) {
    this.warning = options.warning;
  }

  get id(): string {
    return this.session.id;
  }

  get folder(): string {
    return this.session.folder;
  }

  get mode(): PermissionMode {
    return this.session.mode;
  }

  async setMode(mode: PermissionMode, client: AgentContext): Promise<void> {
    this.session.setMode(mode);
    await this.send(client, { sessionUpdate: 'current_mode_update', currentModeId: mode });
  }

  /** Sends what was said and done so far, and the list of steps. */
  async replay(client: AgentContext): Promise<void> {
    const { history, todos, folder } = this.session;
    for (const update of toHistoryUpdates(history, folder)) await this.send(client, update);
    if (todos.length > 0) await this.send(client, { sessionUpdate: 'plan', entries: toPlan(todos) });
  }

  /** `signal` cancels as `cancel` does. */
  async prompt(parts: readonly TextPart[], client: AgentContext, signal: AbortSignal): Promise<PromptResponse> {
    const cancel = (): void => this.cancel();
    signal.addEventListener('abort', cancel, { once: true });
    try {
      return await (this.turn === null ? this.run(parts, client) : this.join(parts, client));
    } finally {
      signal.removeEventListener('abort', cancel);
    }
  }

  cancel(): void {
    this.turn?.cancel();
  }

  /** Cancels and waits until nothing of it runs; another process may open it then. */
  async close(): Promise<void> {
    while (this.turn !== null) {
      this.cancel();
      await this.ended;
    }
    this.session.close();
  }

  private join(parts: readonly TextPart[], client: AgentContext): Promise<PromptResponse> {
    const end = Promise.withResolvers<PromptResponse>();
    this.session.inbox.add('input', parts.map(({ text }) => text).join('\n\n'));
    this.waiting = [...this.waiting, { parts, client, end }];
    return end.promise;
  }

  private async run(parts: readonly TextPart[], client: AgentContext): Promise<PromptResponse> {
    const { session, options } = this;
    const turn = new AcpTurn({
      ...options,
      session,
      client,
      send: (update) => this.send(client, update),
      onHookFailure: ({ message }) => options.log(message),
    });
    this.turn = turn;
    if (this.warning !== null) turn.updates.warn(this.warning);
    this.warning = null;
    const outcome = turn.run(parts);
    this.ended = outcome.catch(() => undefined).then(() => this.next(turn, outcome));
    return outcome;
  }

  /** What the turn took in ends with it; the first prompt that it did not take in runs now. */
  private next(turn: AcpTurn, outcome: Promise<PromptResponse>): void {
    this.turn = null;
    const taken = this.waiting.length - this.session.inbox.pending.length;
    for (const { end } of this.waiting.slice(0, taken)) end.resolve(outcome);
    const left = this.waiting.slice(taken);
    this.waiting = turn.isCancelled ? [] : left.slice(1);
    for (const { end } of turn.isCancelled ? left : []) {
      this.session.inbox.takeNext();
      end.resolve({ stopReason: 'cancelled' });
    }
    const [first] = left;
    if (turn.isCancelled || first === undefined) return;
    this.session.inbox.takeNext();
    first.end.resolve(this.run(first.parts, first.client));
  }

  /** An update that cannot be sent any more has nobody to read it: the closed connection ends the session. */
  private async send(client: AgentContext, update: SessionUpdate): Promise<void> {
    await client.notify(methods.client.session.update, { sessionId: this.session.id, update }).catch(() => undefined);
  }
}
