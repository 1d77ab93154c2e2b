/**
 * A conversation with the loop in this process: what headless, ACP agent and terminal share. A surface passes policies and callbacks; it
 * has no loop of its own.
 *
 * A1  One turn at a time, one process at a time.
 * A2  What a turn did is on the disk before it goes on; a session whose process died goes on where it was (agent-loop.md §7).
 * A3  No call whose outcome is unknown is executed again by itself.
 */
import { randomUUID } from 'node:crypto';
import {
  createToolRegistry,
  type LoopCounters,
  type LoopResult,
  type ModelMessage,
  NEW_COUNTERS,
  persistenceError,
  runLoop,
  type SendType,
  settleInterrupted,
  type StartingPoint,
  type TextPart,
} from '@echelon/agent-loop';
import type { PermissionMode } from '@echelon/domain';
import { type CommandProcess, killCommand } from '@echelon/workspace-tools';
import { SessionError } from './session-error.js';
import { SessionInbox } from './session-inbox.js';
import { SessionJournal } from './session-journal.js';
import { SessionLog } from './session-log.js';
import { buildSessionPrompt } from './session-prompt.js';
import type { SessionSettings } from './session-settings.js';
import { dropResponse, findAnswer, knownCalls, type OpenTurn, unsentPrompt } from './session-state.js';
import type { SessionEntry, SessionStore } from './session-store.js';
import { subagentTool } from './session-subagents.js';
import type { SessionContext } from './session-tool.js';
import { modeOf, shareTurn, stopPoliciesOf, todosTool, type TurnSurface } from './session-turn.js';
import type { AheadSurface } from './speculation/run-speculation.js';
import { Speculation } from './speculation/speculation.js';
import type { Todo } from './todo-list.js';

type Start = Pick<StartingPoint, 'opening' | 'sendType' | 'known' | 'answered'>;

export class AgentSession {
  readonly id: string;
  readonly folder: string;
  readonly inbox = new SessionInbox();
  private readonly log: SessionLog;
  private readonly journal: SessionJournal;
  private running = false;
  /** A turn of this process has begun. */
  private hasRun = false;
  /** The likely next prompt, run ahead. */
  private ahead: Speculation | null = null;
  /** The end of what was thrown away. */
  private leftovers: Promise<void> = Promise.resolve();

  private constructor(
    { id, folder }: Pick<SessionEntry, 'id' | 'folder'>,
    private readonly store: SessionStore,
    private readonly settings: SessionSettings,
    private readonly lock: { readonly release: () => void },
  ) {
    this.id = id;
    this.folder = folder;
    this.log = new SessionLog(store, id);
    this.journal = new SessionJournal((records) => this.log.append(records), this.inbox);
  }

  /** Begins a session in a folder, given as an absolute path. */
  static create(store: SessionStore, folder: string, settings: SessionSettings): AgentSession {
    const id = randomUUID();
    const lock = store.lock(id);
    store.create({ id, folder, at: new Date() });
    return new AgentSession({ id, folder }, store, settings, lock);
  }

  /** Opens a stored session, and ends the commands that a dead process left. Throws `session_not_found` or `session_in_use`. */
  static async open(store: SessionStore, id: string, settings: SessionSettings): Promise<AgentSession> {
    const { folder } = store.get(id);
    const lock = store.lock(id);
    try {
      const session = new AgentSession({ id, folder }, store, settings, lock);
      for (const process of session.log.state.processes.values()) await killCommand(process as CommandProcess);
      return session;
    } catch (error) {
      lock.release();
      throw error;
    }
  }

  get history(): readonly ModelMessage[] {
    return this.log.state.history;
  }

  get todos(): readonly Todo[] {
    return this.log.state.todos;
  }

  get mode(): PermissionMode {
    return modeOf(this.log, this.settings);
  }

  setMode(mode: PermissionMode): void {
    this.log.note({ type: 'mode', mode });
  }

  get isRunning(): boolean {
    return this.running;
  }

  /** A turn began in a process that died; `resume` goes on with it, a prompt closes it. */
  get isInterrupted(): boolean {
    return !this.running && this.log.state.open !== null;
  }

  /**
   * Runs the likely next prompt ahead, unseen, until the next turn takes it over or throws it away (docs/speculation.md). Call it between
   * turns, with what that turn's surface will say; not from a surface whose policies withhold calls or end turns. `null`: runs ahead are
   * off, or this session has hooks, which would be seen, or nothing to guess from.
   */
  speculate(surface: AheadSurface): Speculation | null {
    const { log, folder, settings, store, inbox } = this;
    const { history, open } = log.state;
    if (settings.speculate !== true || this.running || open !== null || history.length === 0 || hasHooks(settings)) return null;
    this.throwAhead();
    const { open: turn, counters } = this.nextTurn('user');
    this.ahead = new Speculation({ log, folder, overlays: store.overlays, settings, surface, turn, counters, inbox });
    return this.ahead;
  }

  /** Runs a turn that a prompt opens, or takes over what was run ahead for this very prompt. Throws `session_busy`. */
  prompt(parts: readonly TextPart[], surface: TurnSurface): Promise<LoopResult> {
    return this.exclusively(async () => {
      const taken = this.ahead === null ? null : await this.takeAhead(this.ahead, parts, surface);
      if (taken !== null) return taken;
      this.closeInterrupted();
      return this.run(this.begin('user', parts), { opening: { parts, sendType: 'user' } }, surface);
    });
  }

  /** Asks anew for what the last turn did not bring (W11). Throws `nothing_to_retry` or `session_busy`. */
  retry(surface: TurnSurface): Promise<LoopResult> {
    return this.exclusively(async () => {
      this.throwAhead();
      this.closeInterrupted();
      const { history } = this.log.state;
      if (history.length === 0) throw new SessionError('nothing_to_retry', 'There is no turn that could be tried again.');
      if (dropResponse(history)) this.log.append([{ type: 'dropped_response' }]);
      return this.run(this.begin('retry'), { sendType: 'retry' }, surface);
    });
  }

  /** Goes on with a turn whose process died. Throws `nothing_to_resume` or `session_busy`. */
  resume(surface: TurnSurface): Promise<LoopResult> {
    return this.exclusively(async () => {
      const { open } = this.log.state;
      if (open === null)
        throw new SessionError('nothing_to_resume', 'The last turn of this session has ended; there is nothing to go on with.');
      this.log.state.counters = { ...this.log.state.counters, sessionRounds: this.sessionRounds };
      return this.goOn(open, surface);
    });
  }

  close(): void {
    this.throwAhead();
    this.lock.release();
  }

  private async exclusively<Result>(run: () => Promise<Result>): Promise<Result> {
    if (this.running) throw new SessionError('session_busy', 'A turn of this session is running.');
    this.running = true;
    try {
      return await run();
    } finally {
      await this.leftovers;
      this.running = false;
    }
  }

  private throwAhead(): void {
    const { ahead, leftovers } = this;
    this.ahead = null;
    if (ahead !== null) this.leftovers = Promise.all([leftovers, ahead.discard()]).then(() => undefined);
  }

  /** Makes what was run ahead for this prompt the session's next turn and goes on with it; `null`: it does not fit. */
  private async takeAhead(ahead: Speculation, parts: readonly TextPart[], surface: TurnSurface): Promise<LoopResult | null> {
    const { log } = this;
    const ran = await ahead.accept(parts, surface.signal);
    this.throwAhead();
    if (ran === null) return null;
    log.reload();
    log.name(parts.map(({ text }) => text).join(' '));
    this.hasRun = true;
    await ran.records.replay(surface);
    const { open } = log.state;
    return open === null || ran.ended.stop.reason === 'error' ? ran.ended : this.goOn(open, surface);
  }

  private begin(sendType: SendType, prompt?: readonly TextPart[]): OpenTurn {
    const { open, counters } = this.nextTurn(sendType);
    const said = prompt === undefined ? {} : { prompt };
    this.log.note({ type: 'turn', number: open.number, prompt_id: open.promptId, send_type: sendType, ...said });
    this.log.state.counters = counters;
    return open;
  }

  private nextTurn(sendType: SendType): { readonly open: OpenTurn; readonly counters: LoopCounters } {
    const { turns, counters } = this.log.state;
    const { sessionRounds } = this;
    return {
      open: { number: turns + 1, promptId: randomUUID(), sendType },
      counters: { ...NEW_COUNTERS, sessionRounds, contextTokens: counters.contextTokens },
    };
  }

  /** Those that count towards the turn cap. */
  private get sessionRounds(): number {
    return this.settings.limitsCount === 'process' && !this.hasRun ? 0 : this.log.state.counters.sessionRounds;
  }

  /** What is known of the turn's open batch is kept; the rest of it runs. A response at its stop point is not asked for again. */
  private goOn(open: OpenTurn, surface: TurnSurface): Promise<LoopResult> {
    const { state } = this.log;
    const [known, answered, parts] = [knownCalls(state), findAnswer(state), unsentPrompt(state)];
    const opening = parts && ({ parts, sendType: 'user' } as const);
    return this.run(open, { ...(known && { known }), ...(answered && { answered }), ...(opening && { opening }) }, surface);
  }

  private async run({ number, promptId }: OpenTurn, start: Start, surface: TurnSurface): Promise<LoopResult> {
    this.hasRun = true;
    const { log, folder, settings } = this;
    const { history, counters, compacted, instructions, replaced } = log.state;
    const { onEvent } = surface;
    surface.onBegin?.(history);
    const shared = shareTurn({ log, folder, promptId, settings, surface });
    const { models, context, artifacts, spending, hooks, permissions, limits } = shared;
    const result = await runLoop<SessionContext>({
      start: { ...start, history, counters, compacted, instructions, replaced },
      models,
      system: buildSessionPrompt({ folder, instructions: settings.instructions }),
      tools: createToolRegistry([...shared.tools, todosTool(log), subagentTool(shared), ...(surface.tools ?? [])]),
      context,
      turn: `t${number}`,
      promptId,
      signal: surface.signal,
      journal: this.journal,
      artifacts,
      spending,
      hooks,
      leadPending: () => this.inbox.leadPending,
      policies: { ...surface.policies, permissions },
      stopPolicies: stopPoliciesOf(log, settings, surface),
      ...(onEvent === undefined ? {} : { onEvent }),
      limits,
    });
    return this.end(result);
  }

  /** Barrier 5. An end that cannot be stored is none: the turn counts as interrupted. */
  private end(result: LoopResult): LoopResult {
    const { stop, counters } = result;
    // A prompt that a hook kept from being sent is in no later request.
    const unrecorded = stop.reason === 'prompt_blocked' && result.rounds === 0 ? { ...result.unrecorded, messages: [] } : result.unrecorded;
    try {
      this.journal.end(unrecorded, stop.reason, counters);
      this.log.reload();
      return result;
    } catch (error) {
      return { ...result, stop: persistenceError(error) };
    }
  }

  /** The history goes on without what an interrupted turn left open: what had started is unknown, the rest was not executed. */
  private closeInterrupted(): void {
    const { open, batch, counters } = this.log.state;
    if (open === null) return;
    const results = batch === null ? [] : settleInterrupted(batch.calls, knownCalls(this.log.state));
    this.journal.end({ response: null, results, messages: [] }, 'interrupted', counters);
    this.log.reload();
  }
}

function hasHooks({ hooks = {} }: SessionSettings): boolean {
  return Object.values(hooks).some((list) => list !== undefined && list.length > 0);
}
