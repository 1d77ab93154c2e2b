/**
 * A chat on a session, without its screen: what the person may do, and what there is to see. It has no loop of its own; a turn is the
 * session's (agent-loop.md §1).
 *
 * C1  What is said while a turn runs joins it right after tools; what found no such place opens the next turn, one message a turn.
 * C2  A turn never ends silently: its stop reason is an item.
 * C3  A stop gives back what was said and not taken in, so that nothing is lost and nothing runs unasked.
 */
import type { ApprovalAnswer, LoopLimits, LoopResult } from '@echelon/agent-loop';
import { type AgentSession, SessionError, type TurnSurface, type WaitingInput } from '@echelon/agent-session';
import type { PermissionMode } from '@echelon/domain';
import { ApprovalQueue } from './approval-queue.js';
import { Changes } from './changes.js';
import type { Level, OpenApproval } from './chat-item.js';
import { toHistoryItems } from './history-items.js';
import { toLine } from './plain-text.js';
import { Transcript } from './transcript.js';
import { openTurnSurface } from './chat-turn.js';
import { describeEnd } from './turn-ends.js';

export interface ChatOptions {
  readonly session: AgentSession;
  /** Begins another session in the same folder. */
  readonly createSession: () => AgentSession;
  /** Forgets a stored session, in which nothing was said. */
  readonly forget: (id: string) => void;
  readonly modelName: string;
  readonly limits: LoopLimits;
}

type Turn = (surface: TurnSurface) => Promise<LoopResult>;

const INTERRUPTED = 'The last turn was interrupted. /resume goes on with it where it was; a prompt leaves it behind.';

export class Chat {
  readonly transcript: Transcript;
  readonly changes = new Changes();
  private session: AgentSession;
  private readonly approvals = new ApprovalQueue(this.changes.announce);
  private readonly leaving = Promise.withResolvers<void>();
  private turn: { readonly cancelling: AbortController; readonly ended: Promise<void> } | null = null;
  private waiting: readonly WaitingInput[] = [];
  private hasLeft = false;
  private suggested: string | null = null;

  constructor(private readonly options: ChatOptions) {
    this.session = options.session;
    this.transcript = new Transcript(this.session.folder);
    this.greet();
    for (const item of toHistoryItems(this.session.history, this.session.folder)) this.transcript.add(item);
    if (this.session.isInterrupted) this.notice('warning', INTERRUPTED);
  }

  /** Settles when the person has left and nothing of the chat runs; rejects when something broke that no stop reason tells. */
  get left(): Promise<void> {
    return this.leaving.promise;
  }

  get isRunning(): boolean {
    return this.turn !== null;
  }

  get isStopping(): boolean {
    return this.turn?.cancelling.signal.aborted === true;
  }

  get modelName(): string {
    return this.options.modelName;
  }

  get mode(): PermissionMode {
    return this.session.mode;
  }

  get approval(): OpenApproval | null {
    return this.approvals.first;
  }

  /** What was said and has not been taken in. */
  get pending(): readonly WaitingInput[] {
    return this.waiting;
  }

  /** What the person will likely say next; where the settings ask for it, it is run ahead, and these very words take it over. */
  get suggestion(): string | null {
    return this.suggested;
  }

  /** The step that the agent's list says it is at, with its place. */
  get step(): string | null {
    const { todos } = this.session;
    const at = todos.findIndex(({ status }) => status === 'in_progress');
    const todo = todos[at];
    return todo === undefined ? null : `${at + 1}/${todos.length} ${toLine(todo.content)}`;
  }

  /** What the person has said in this session, oldest first. */
  get saidBefore(): readonly string[] {
    return this.transcript.items.flatMap((item) => (item.type === 'said' ? [item.text] : []));
  }

  /** A prompt, or while a turn runs an input of it. */
  say(text: string): void {
    if (this.turn === null) return this.prompt(text);
    this.session.inbox.add('input', text);
    this.refreshPending();
  }

  /** Steers the running turn; without one it is a prompt. */
  lead(text: string): void {
    if (this.turn === null) return this.prompt(text);
    this.session.inbox.add('lead', text);
    this.refreshPending();
  }

  /** Takes the last that waits back, for the person to change it. */
  takeBack(): WaitingInput | null {
    const last = this.session.inbox.takeBack();
    this.waiting = this.session.inbox.pending;
    this.changes.announce();
    return last;
  }

  answer(answer: ApprovalAnswer): void {
    this.approvals.answer(answer);
  }

  /** Stops what runs, and gives back what was said and not taken in, in its order (C3). */
  stop(): readonly WaitingInput[] {
    const returned: WaitingInput[] = [];
    for (let last = this.takeBack(); last !== null; last = this.takeBack()) returned.unshift(last);
    this.turn?.cancelling.abort();
    this.changes.announce();
    return returned;
  }

  retry(): void {
    this.start((surface) => this.session.retry(surface));
  }

  resume(): void {
    this.start((surface) => this.session.resume(surface));
  }

  setMode(mode: PermissionMode): void {
    this.session.setMode(mode);
    this.notice('info', `Mode: ${mode}.`);
  }

  /** Another session in the same folder; this one stays stored. Not while a turn runs. */
  clear(): void {
    const next = this.options.createSession();
    this.closeSession();
    this.session = next;
    this.suggested = null;
    this.greet();
    this.changes.announce();
  }

  notice(level: Level, text: string): void {
    this.transcript.add({ type: 'notice', level, text });
    this.changes.announce();
  }

  /** Stops what runs and ends the chat. */
  async leave(): Promise<void> {
    this.stop();
    await this.turn?.ended;
    if (this.hasLeft) return;
    this.closeSession();
    this.hasLeft = true;
    this.changes.announce();
    this.leaving.resolve();
  }

  /** There is nobody to whom anything else would have to be shown. */
  get isLeft(): boolean {
    return this.hasLeft;
  }

  private closeSession(): void {
    const { id, history } = this.session;
    this.session.close();
    if (history.length === 0) this.options.forget(id);
    else this.notice('info', `This session is kept: echelon chat --resume ${id}`);
  }

  private greet(): void {
    const { folder, id, mode } = this.session;
    this.transcript.add({
      type: 'header',
      lines: [folder, `${this.options.modelName} · mode ${mode}`, `session ${id}`, '/help says what there is'],
    });
  }

  private prompt(text: string): void {
    this.transcript.say('prompt', text);
    this.start((surface) => this.session.prompt([{ type: 'text', text }], surface));
  }

  private start(turn: Turn): void {
    const cancelling = new AbortController();
    this.suggested = null;
    this.turn = { cancelling, ended: this.run(turn, cancelling.signal) };
    this.changes.announce();
  }

  private async run(turn: Turn, signal: AbortSignal): Promise<void> {
    let hasCompleted = false;
    try {
      const { stop } = await turn(this.openSurface(signal));
      this.refreshPending();
      this.transcript.close();
      this.transcript.add({ type: 'end', reason: stop.reason, ...describeEnd(stop) });
      hasCompleted = stop.reason === 'completed';
    } catch (error) {
      if (!(error instanceof SessionError)) return this.break(error);
      this.notice('warning', error.message);
    }
    this.turn = null;
    const next = signal.aborted ? null : this.session.inbox.takeNext();
    this.waiting = this.session.inbox.pending;
    if (next !== null) return this.prompt(next);
    if (hasCompleted && !signal.aborted) void this.runAhead(signal);
    this.changes.announce();
  }

  /** Thrown away by the session with its next turn or its end, unless that turn takes it over. */
  private async runAhead(signal: AbortSignal): Promise<void> {
    const { session } = this;
    const suggestion = (await session.speculate(this.openSurface(signal))?.suggestion) ?? null;
    if (this.turn !== null || this.session !== session) return;
    this.suggested = suggestion;
    this.changes.announce();
  }

  private break(error: unknown): void {
    this.session.close();
    this.leaving.reject(error);
  }

  private openSurface(signal: AbortSignal): TurnSurface {
    const { transcript, approvals, changes, options, session } = this;
    const { folder } = session;
    const beforeEvent = (): void => this.refreshPending();
    return openTurnSurface({ folder, transcript, approvals, signal, limits: options.limits, beforeEvent, onChange: changes.announce });
  }

  /** What has left the inbox was taken in by the turn. */
  private refreshPending(): void {
    const { pending } = this.session.inbox;
    for (const input of this.waiting.filter((known) => !pending.includes(known))) this.transcript.say(input.kind, toText(input));
    this.waiting = pending;
    this.changes.announce();
  }
}

export function toText({ message }: WaitingInput): string {
  return message.parts.map(({ text }) => text).join('\n');
}
