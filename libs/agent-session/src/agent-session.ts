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
  type ArtifactStore,
  type BatchPolicies,
  createToolRegistry,
  type EventSink,
  type LoopHooks,
  type LoopLimits,
  type LoopResult,
  type ModelMessage,
  type ModelTarget,
  NEW_COUNTERS,
  persistenceError,
  runLoop,
  type SendType,
  settleInterrupted,
  type StartingPoint,
  type StopPolicy,
  type TextPart,
  type ToolDefinition,
} from '@echelon/agent-loop';
import type { PermissionMode, PermissionRule } from '@echelon/domain';
import { type CommandProcess, createWorkspaceTools, killCommand } from '@echelon/workspace-tools';
import type { z } from 'zod';
import { SessionError } from './session-error.js';
import { SessionInbox } from './session-inbox.js';
import { SessionJournal } from './session-journal.js';
import { type Approve, createSessionPermissions } from './session-permissions.js';
import { buildSessionPrompt } from './session-prompt.js';
import type { SessionRecord } from './session-record.js';
import { dropResponse, knownCalls, restoreState, type SessionState } from './session-state.js';
import type { SessionEntry, SessionStore } from './session-store.js';
import { createTodoPolicy, type Todo, updateTodosTool } from './todo-list.js';

/** What a tool of a session knows of its call. */
export interface SessionContext {
  readonly workspace: { readonly root: string };
  readonly recordProcess: (callId: string, process: object) => void;
}

export type SessionTool = ToolDefinition<z.ZodType, SessionContext>;

export interface SessionSettings {
  /** The model to ask, then at most 3 fallbacks. */
  readonly models: readonly ModelTarget[];
  readonly rules: readonly PermissionRule[];
  /** Of a session that has not chosen another. */
  readonly mode: PermissionMode;
  readonly instructions?: string | undefined;
  readonly hooks?: LoopHooks<SessionContext> | undefined;
  /** What the turn cap counts: the rounds of the session, or those of this process. Default: the session's. */
  readonly capCounts?: 'session' | 'process';
}

/** What a surface brings to one turn. */
export interface TurnSurface {
  readonly signal: AbortSignal;
  readonly onEvent?: EventSink;
  /** Absent: nobody is there to approve anything. */
  readonly approve?: Approve;
  readonly limits?: LoopLimits;
  readonly policies?: Pick<BatchPolicies<SessionContext>, 'select' | 'beforeToolLaunch' | 'onResults'>;
  /** Tools of this surface alone. */
  readonly tools?: readonly SessionTool[];
  /** Asked in order at a stop point, before the list of steps. */
  readonly stopPolicies?: readonly StopPolicy[];
  /** Keeps a prompt going while its list of steps is unfinished. */
  readonly keepsToTodos?: boolean;
}

export class AgentSession {
  readonly id: string;
  readonly folder: string;
  readonly inbox = new SessionInbox();
  private running = false;
  private state: SessionState;
  private readonly journal = new SessionJournal((records) => this.append(records), this.inbox);

  private constructor(
    { id, folder }: Pick<SessionEntry, 'id' | 'folder'>,
    private readonly store: SessionStore,
    private readonly settings: SessionSettings,
    private readonly lock: { readonly release: () => void },
  ) {
    this.id = id;
    this.folder = folder;
    this.state = restoreState(store.read(id));
    if (settings.capCounts === 'process') this.state.counters = { ...this.state.counters, sessionRounds: 0 };
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
      for (const process of session.state.processes.values()) await killCommand(process as CommandProcess);
      return session;
    } catch (error) {
      lock.release();
      throw error;
    }
  }

  get history(): readonly ModelMessage[] {
    return this.state.history;
  }

  get todos(): readonly Todo[] {
    return this.state.todos;
  }

  get mode(): PermissionMode {
    return this.state.mode ?? this.settings.mode;
  }

  setMode(mode: PermissionMode): void {
    this.append([{ type: 'mode', mode }]);
    this.state.mode = mode;
  }

  /** A turn began in a process that died; `resume` goes on with it, a prompt closes it. */
  get isInterrupted(): boolean {
    return !this.running && this.state.open !== null;
  }

  /** Runs a turn that a prompt opens. Throws `session_busy`. */
  async prompt(parts: readonly TextPart[], surface: TurnSurface): Promise<LoopResult> {
    return this.exclusively(() => {
      this.closeInterrupted();
      this.store.nameAfter(this.id, parts.map(({ text }) => text).join(' '));
      return this.run(this.begin('user'), { opening: { parts, sendType: 'user' } }, surface);
    });
  }

  /** Asks anew for what the last turn did not bring (W11). Throws `nothing_to_retry`. */
  async retry(surface: TurnSurface): Promise<LoopResult> {
    return this.exclusively(() => {
      this.closeInterrupted();
      const { history } = this.state;
      if (history.length === 0) throw new SessionError('nothing_to_retry', 'There is no turn that could be tried again.');
      if (dropResponse(history)) this.append([{ type: 'dropped_response' }]);
      return this.run(this.begin('retry'), { sendType: 'retry' }, surface);
    });
  }

  /** Goes on with a turn whose process died. Throws `nothing_to_resume`. */
  async resume(surface: TurnSurface): Promise<LoopResult> {
    return this.exclusively(() => {
      const { open } = this.state;
      if (open === null)
        throw new SessionError('nothing_to_resume', 'The last turn of this session has ended; there is nothing to go on with.');
      const known = knownCalls(this.state);
      this.state.batch = null;
      return this.run(open, { instructions: this.state.instructions, ...(known === undefined ? {} : { known }) }, surface);
    });
  }

  close(): void {
    this.lock.release();
  }

  private async exclusively<Result>(run: () => Promise<Result>): Promise<Result> {
    if (this.running) throw new SessionError('session_busy', 'A turn of this session is running.');
    this.running = true;
    try {
      return await run();
    } finally {
      this.running = false;
    }
  }

  private begin(sendType: SendType): NonNullable<SessionState['open']> {
    const open = { number: this.state.turns + 1, promptId: randomUUID(), sendType };
    this.append([{ type: 'turn', number: open.number, prompt_id: open.promptId, send_type: sendType }]);
    this.state.turns = open.number;
    this.state.open = open;
    const { sessionRounds, contextTokens } = this.state.counters;
    this.state.counters = { ...NEW_COUNTERS, sessionRounds, contextTokens };
    return open;
  }

  private async run(
    turn: NonNullable<SessionState['open']>,
    start: Omit<StartingPoint, 'history'>,
    surface: TurnSurface,
  ): Promise<LoopResult> {
    const { models, hooks } = this.settings;
    const result = await runLoop<SessionContext>({
      start: { ...start, history: this.state.history, counters: this.state.counters, replaced: this.state.replaced },
      models,
      system: buildSessionPrompt({ folder: this.folder, instructions: this.settings.instructions }),
      tools: createToolRegistry([...this.ownTools(), ...(surface.tools ?? [])]),
      context: {
        workspace: { root: this.folder },
        recordProcess: (callId, process) => this.append([{ type: 'process', call_id: callId, process }]),
      },
      turn: `t${turn.number}`,
      promptId: turn.promptId,
      signal: surface.signal,
      journal: this.journal,
      artifacts: this.artifacts(),
      leadPending: () => this.inbox.leadPending,
      policies: { ...surface.policies, permissions: this.permissions(surface.approve) },
      stopPolicies: [...(surface.stopPolicies ?? []), ...(surface.keepsToTodos ? [this.todoPolicy()] : [])],
      ...(hooks === undefined ? {} : { hooks }),
      ...(surface.onEvent === undefined ? {} : { onEvent: surface.onEvent }),
      ...(surface.limits === undefined ? {} : { limits: surface.limits }),
    });
    return this.end(result);
  }

  /** Barrier 5. An end that cannot be stored is none: the turn counts as interrupted. */
  private end(result: LoopResult): LoopResult {
    const { unrecorded, stop, counters } = result;
    this.state.counters = counters;
    try {
      this.journal.end(unrecorded, stop.reason, counters);
    } catch (error) {
      return { ...result, stop: persistenceError(error) };
    }
    this.state.open = null;
    return result;
  }

  /** The history goes on without what an interrupted turn left open: what had started is unknown, the rest was not executed. */
  private closeInterrupted(): void {
    const { open, batch, counters } = this.state;
    if (open === null) return;
    const results = batch === null ? [] : settleInterrupted(batch.calls, knownCalls(this.state));
    this.append([
      ...(results.length === 0 ? [] : [{ type: 'results', results } as const]),
      { type: 'turn_end', reason: 'interrupted', counters },
    ]);
    this.state = { ...restoreState(this.store.read(this.id)), counters };
  }

  private ownTools(): readonly SessionTool[] {
    const workspace = createWorkspaceTools<SessionContext>({
      onCommandStarted: ({ callId, context, process }) => context.recordProcess(callId, process),
    });
    const todos = updateTodosTool<SessionContext>((list) => {
      this.append([{ type: 'todos', todos: list }]);
      this.state.todos = list;
    });
    return [...workspace, todos];
  }

  private permissions(approve: Approve | undefined) {
    return createSessionPermissions<SessionContext>({
      policy: () => ({ mode: this.mode, rules: this.settings.rules }),
      grants: this.state.grants,
      keepGrant: (grant) => {
        this.append([{ type: 'grant', grant }]);
        this.state.grants.add(grant);
      },
      approve,
    });
  }

  private todoPolicy(): StopPolicy {
    return createTodoPolicy(() => ({ todos: this.state.todos, plans: this.mode === 'plan' }));
  }

  private artifacts(): ArtifactStore {
    return {
      store: ({ callId, text }) => {
        this.store.storeArtifact(this.id, callId, text);
        return Promise.resolve(`artifact ${callId} of session ${this.id}`);
      },
    };
  }

  private append(records: readonly SessionRecord[]): void {
    this.store.append(this.id, records, new Date());
  }
}
