/** The product: each command through the services that the doors use, on real Postgres. */
import type { LoopStop } from '@echelon/agent-loop';
import { DEFAULT_LIMITS, isRefusal } from '@echelon/domain';
import { newId } from '@echelon/persistence';
import type { Actor, AgentActor } from '../../libs/orchestration/src/actor.js';
import { claimTurn, type ClaimedTurn } from '../../libs/orchestration/src/claim.js';
import { endSession, expireQuestion, lockFamilies } from '../../libs/orchestration/src/ending.js';
import { recoverLease } from '../../libs/orchestration/src/lease-recovery.js';
import { type EntryPlace, QueueService } from '../../libs/orchestration/src/queue.service.js';
import { refreshWork } from '../../libs/orchestration/src/session-queue.js';
import { SessionService } from '../../libs/orchestration/src/session.service.js';
import { settle } from '../../libs/orchestration/src/settle.js';
import { TaskService } from '../../libs/orchestration/src/task.service.js';
import type { World } from '../support/world.js';
import type { Command, NamedCommand, TurnEnd, Who } from './commands.js';
import { ROOT } from '../support/reached-root.js';
import type { Rows } from './rows.js';

const CLAIMER = { owner: 'model', presence: null, leaseMs: 3_600_000, rootId: ROOT.id };
const STOPS: Readonly<Record<TurnEnd, LoopStop>> = {
  completed: { reason: 'completed' },
  tool_ended_turn: { reason: 'tool_ended_turn', callId: 'call-1', tool: 'step_complete_kandev' },
  loop_detected: { reason: 'loop_detected', explanation: 'the same call again' },
  error: { reason: 'error', kind: 'model_request', message: 'the model failed' },
  handed_over: { reason: 'handed_over' },
  parked: { reason: 'parked', for: [{ kind: 'result', callId: 'call-1', waitsFor: 'an answer' }] },
};

type Case<Kind> = Extract<Command, { readonly do: Kind }> & { readonly name: string };
type Performances = { readonly [Kind in Command['do']]: (command: Case<Kind>) => Promise<string> };

export class Product {
  readonly claims = new Map<string, ClaimedTurn>();
  /** What the rows said when the running step began. */
  #rows!: Rows;
  readonly #tasks: TaskService;
  readonly #sessions: SessionService;
  readonly #queues: QueueService;

  constructor(readonly world: World) {
    const limits = { ...DEFAULT_LIMITS, creates_per_tree_minute: 10_000, spawns_per_task_minute: 10_000 };
    this.#tasks = new TaskService(world.database, world.transactions, limits);
    this.#sessions = new SessionService(world.database, world.transactions);
    this.#queues = new QueueService(world.transactions, limits);
  }

  /** Names are looked up in these rows until the next call. */
  see(rows: Rows): void {
    this.#rows = rows;
  }

  /** Does what the command says; returns the outcome, in the model's word. */
  perform(command: NamedCommand): Promise<string> {
    return (this.#performances[command.do] as (command: NamedCommand) => Promise<string>)(command);
  }

  readonly #performances: Performances = {
    create: async ({ name, by, parent, autopilot, starts }) => {
      const request = { title: name, prompt: said(name), autopilot, blocked_by: [], start_agent: starts };
      const place = parent === null ? { workspace_id: this.world.workspaceId } : { parent_id: this.#rows.taskId(parent) };
      const actor = this.#actor(by);
      const created = await this.#tasks.create(actor, { ...request, ...place }, null);
      if (isRefusal(created)) return created.code;
      if (actor.kind === 'agent') await this.#recordCall(actor, created.id);
      return 'created';
    },

    ask: async ({ by, key }) => {
      const asked = await this.world.services.questions.askParent(this.#agent(by), { questions: [{ prompt: `Q[${key}]` }] }, key);
      if (isRefusal(asked)) return asked.code;
      const [row] = await this.world.rows<{ prompt: string }>(
        `SELECT metadata->'questions'->0->>'prompt' AS prompt FROM message WHERE id = $1`,
        [asked.question_id],
      );
      return `asked ${row?.prompt.slice(2, -1)}`;
    },

    ask_user: async ({ name, by }) => {
      const asked = await this.world.services.questions.askUser(this.#agent(by), { questions: [{ prompt: `Q[${name}]` }] }, name);
      return isRefusal(asked) ? asked.code : 'asked';
    },

    answer_user: async ({ question, rejects }) => {
      const input = rejects ? { rejected: true } : { answers: { q1: 'Yes.' }, rejected: false };
      const answered = await this.world.services.questions.answerUser(this.world.operator, this.#rows.questionId(question), input);
      if (isRefusal(answered)) return answered.code;
      return answered.claimed ? 'claimed' : 'lost';
    },

    message: async ({ name, by, task, session, interrupts }) => {
      const to = session === null ? {} : { session_id: this.#rows.sessionId(session) };
      const message = { prompt: said(name), delivery_mode: interrupts ? 'interrupt' : 'queued', ...to } as const;
      return statusOf(await this.world.services.messages.send(this.#actor(by), this.#rows.taskId(task), message));
    },

    answer: async ({ name, by, task, session, question }) => {
      const to = session === null ? {} : { session_id: this.#rows.sessionId(session) };
      const reply_to_question_id = question === null ? newId() : this.#rows.questionId(question);
      const answer = { prompt: said(name), delivery_mode: 'queued', reply_to_question_id, ...to } as const;
      return statusOf(await this.world.services.messages.send(this.#actor(by), this.#rows.taskId(task), answer));
    },

    claim: async ({ session }) => {
      const claimed = await claimTurn(this.world.transactions, this.#rows.sessionId(session), CLAIMER);
      if (!claimed) return 'nothing';
      this.#hold(session, claimed);
      return 'claimed';
    },

    end: async ({ session, epoch, how, drains }) => {
      const claimed = this.claims.get(session);
      if (!claimed || Number(claimed.lease.epoch) !== epoch) throw new Error(`nobody holds ${session} with epoch ${epoch}`);
      const report = { stop: STOPS[how], record: () => Promise.resolve() };
      const settled = await settle(this.world.transactions, claimed, report, { yieldToOthers: !drains });
      if (settled.then === 'run' || settled.then === 'resume') this.#hold(session, settled.claimed);
      return settled.then;
    },

    signal: async ({ by }) => {
      const signalled = await this.world.services.turns.signalCompletion(this.#agent(by), { summary: 'Done.' });
      if (isRefusal(signalled)) return signalled.code;
      return signalled.accepted ? 'accepted' : signalled.reason;
    },

    stop_turn: async ({ by, session, turn }) => {
      const stopped = await this.world.services.turns.stop(this.#actor(by), this.#rows.turnId(session, turn));
      return isRefusal(stopped) ? stopped.code : 'stopped';
    },

    stop_task: async ({ by, task, cascade }) => statusOf(await this.#tasks.stop(this.#actor(by), this.#rows.taskId(task), { cascade })),

    archive: async ({ by, task }) => {
      const archived = await this.#tasks.archive(this.#actor(by), this.#rows.taskId(task));
      if (isRefusal(archived)) return archived.code;
      return archived.already_archived ? 'already_archived' : 'archived';
    },

    unarchive: async ({ by, task }) => {
      const unarchived = await this.#tasks.unarchive(this.#actor(by), this.#rows.taskId(task));
      return isRefusal(unarchived) ? unarchived.code : 'unarchived';
    },

    set_state: async ({ task, state }) => {
      const updated = await this.#tasks.update(this.world.operator, this.#rows.taskId(task), { state });
      return isRefusal(updated) ? updated.code : 'updated';
    },

    auto_run: async ({ by, session, on }) => {
      const set = await this.#sessions.setAutoRun(this.#actor(by), this.#rows.sessionId(session), on);
      return isRefusal(set) ? set.code : 'set';
    },

    time_out: async ({ question }) => ((await expireQuestion(this.world.transactions, this.#rows.questionId(question))) ? 'stale' : 'over'),

    open_session: async ({ name, task }) => {
      const id = await this.world.session({ id: this.#rows.taskId(task), sessionId: '' });
      await this.world.rows('UPDATE session SET name = $2 WHERE id = $1', [id, name]);
      return 'opened';
    },

    end_session: ({ session }) =>
      this.world.run(async (unit) => {
        const { sessions } = await lockFamilies(unit, [this.#rows.taskIdOf(session)]);
        const live = sessions.find(({ id }) => id === this.#rows.sessionId(session));
        if (live) await endSession(unit, live, 'cancelled', 'session_ended');
        return live ? 'ended' : 'over';
      }),

    lose_lease: async ({ session }) => {
      const lost = await this.world.rows(
        `UPDATE session SET lease_until = clock_timestamp() - interval '1 second'
         WHERE id = $1 AND lease_owner IS NOT NULL AND lease_until > clock_timestamp() RETURNING id`,
        [this.#rows.sessionId(session)],
      );
      return lost.length > 0 ? 'lost' : 'nothing';
    },

    /** A backoff lasts until `back_off_passes`, however slow the machine is. */
    sweep: async ({ session }) => {
      const isFreed = await recoverLease(this.world.transactions, this.#rows.sessionId(session));
      await this.world.rows(`UPDATE turn SET resume_at = 'infinity' WHERE session_id = $1 AND resume_at > clock_timestamp()`, [
        this.#rows.sessionId(session),
      ]);
      return isFreed ? 'freed' : 'nothing';
    },

    back_off_passes: ({ session }) =>
      this.world.run(async (unit) => {
        const id = this.#rows.sessionId(session);
        await unit.query('SELECT id FROM session WHERE id = $1 FOR NO KEY UPDATE', [id]);
        const passed = await unit.query(
          `UPDATE turn SET resume_at = NULL WHERE session_id = $1 AND status <> 'finished' AND resume_at > clock_timestamp() RETURNING id`,
          [id],
        );
        await refreshWork(unit, id);
        return passed.length > 0 ? 'passed' : 'nothing';
      }),

    spawn: async ({ name, by, task, primary, repeats }) => {
      const input = { kind: 'task', name, make_primary: primary, ...(repeats ? {} : { prompt: said(name) }) } as const;
      const spawned = await this.#tasks.spawnSession(this.#actor(by), this.#rows.taskId(task), input, null);
      return isRefusal(spawned) ? spawned.code : 'spawned';
    },

    reparent: async ({ task, parent }) => {
      const to = parent === null ? null : this.#rows.taskId(parent);
      const moved = await this.#tasks.reparent(this.world.operator, this.#rows.taskId(task), to);
      return isRefusal(moved) ? moved.code : 'moved';
    },

    delete: async ({ by, task, cascade }) => {
      const deleted = await this.#tasks.delete(this.#actor(by), this.#rows.taskId(task), { cascade });
      return isRefusal(deleted) ? deleted.code : `deleted ${deleted.deleted} detached ${deleted.detached.length}`;
    },

    add_dependency: async ({ by, task, blocker }) => {
      const added = await this.#tasks.addDependency(this.#actor(by), this.#rows.taskId(task), this.#rows.taskId(blocker));
      return isRefusal(added) ? added.code : 'added';
    },

    remove_dependency: async ({ by, task, blocker }) => {
      const removed = await this.#tasks.removeDependency(this.#actor(by), this.#rows.taskId(task), this.#rows.taskId(blocker));
      return isRefusal(removed) ? removed.code : 'removed';
    },

    edit_entry: async ({ name, session, entry, revision }) => {
      const edited = await this.#queues.edit(this.world.operator, this.#placeOf(session, entry), { text: said(name), revision });
      return isRefusal(edited) ? edited.code : 'edited';
    },

    move_entry: async ({ session, entry, before }) => {
      const to = before === null ? null : this.#rows.entryId({ session, entry: before });
      const moved = await this.#queues.move(this.world.operator, this.#placeOf(session, entry), { before: to });
      return isRefusal(moved) ? moved.code : 'moved';
    },

    remove_entry: async ({ session, entry }) => {
      const { sessionId, entryId } = this.#placeOf(session, entry);
      const removed = await this.#sessions.removeEntry(this.world.operator, sessionId, entryId);
      return isRefusal(removed) ? removed.code : 'removed';
    },
  };

  #placeOf(session: string, entry: number): EntryPlace {
    return { sessionId: this.#rows.sessionId(session), entryId: this.#rows.entryId({ session, entry }) };
  }

  #actor(by: Who): Actor {
    return by.kind === 'operator' ? this.world.operator : this.#agent(by);
  }

  #agent({ session, turn }: Extract<Who, { readonly kind: 'agent' }>): AgentActor {
    const at = turn === null ? {} : { turnId: this.#rows.turnId(session, turn) };
    const sessionId = this.#rows.sessionId(session);
    return this.world.agent({ id: this.#rows.taskIdOf(session), sessionId }, at);
  }

  /** Keeps the newest claim of a session. */
  #hold(session: string, claimed: ClaimedTurn): void {
    const held = this.claims.get(session);
    const isNewer = !held || BigInt(claimed.lease.epoch) > BigInt(held.lease.epoch) || claimed.turn.number > held.turn.number;
    if (isNewer) this.claims.set(session, claimed);
  }

  /** The call that the journal of the agent's turn would hold: every created task has exactly one. */
  async #recordCall({ sessionId, turnId }: AgentActor, taskId: string): Promise<void> {
    await this.world.rows(
      `INSERT INTO tool_call (id, session_id, turn_id, round, "index", call_id, name, arguments, effect, state, result)
       VALUES ($1::uuid, $2, $3, 1, 0, $1::uuid::text, 'create_task_kandev', '{}', 'write', 'done', $4)`,
      [newId(), sessionId, turnId, JSON.stringify({ id: taskId }, null, 1)],
    );
  }
}

/** A command's words carry its name. */
const said = (name: string): string => `W[${name}]`;

function statusOf(outcome: { readonly refused: true; readonly code: string } | { readonly status: string }): string {
  return 'code' in outcome ? outcome.code : outcome.status;
}
