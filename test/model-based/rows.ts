/** The product's rows, read as a state of the model: ids become the names of the commands that made what they name. */
import type { ClaimedTurn } from '../../libs/orchestration/src/claim.js';
import type { World } from '../support/world.js';
import type { Entry, Model, Place, Question, Session, Task, Turn, UserQuestion } from './model.js';

const READ = `
SELECT
 (SELECT coalesce(json_agg(t ORDER BY t.created_at, t.id), '[]') FROM (SELECT id, title, parent_id, autopilot, state, archived_at IS NOT NULL AS archived,
    open_children, deleted_at IS NOT NULL AS deleted, created_at,
    (SELECT coalesce(json_agg(blocked_by_id), '[]') FROM task_dependency d WHERE d.task_id = task.id) AS blockers FROM task) t) AS tasks,
 (SELECT coalesce(json_agg(s ORDER BY s.created_at, s.id), '[]') FROM (SELECT id, name, task_id, is_primary, state, auto_run, lease_epoch::int AS epoch,
    CASE WHEN lease_owner IS NULL THEN 'none' WHEN lease_until > clock_timestamp() THEN 'live' ELSE 'void' END AS lease, runnable, created_at FROM session) s) AS sessions,
 (SELECT coalesce(json_agg(e ORDER BY e."order"), '[]') FROM (SELECT id, session_id, "order", rank, kind, state, revision, sender_kind, sender_task_id, question_id,
    substring(text FROM 'W\\[([a-z0-9.]+)\\]') AS words FROM queue_entry) e) AS entries,
 (SELECT coalesce(json_agg(t ORDER BY t.number), '[]') FROM (SELECT id, session_id, number, opening_entry_id, outcome, ended_by_question_id,
    completion_signal IS NOT NULL AS signalled, stop_requested_at IS NOT NULL AS stopping, parked_for IS NOT NULL AS parked,
    coalesce(resume_at > clock_timestamp(), false) AS backing_off, involuntary_resumes FROM turn) t) AS turns,
 (SELECT coalesce(json_agg(q ORDER BY q.id), '[]') FROM (SELECT id, session_id, type, turn_id, metadata,
    EXISTS (SELECT 1 FROM operator_notification n WHERE n.question_id = message.id) AS notified FROM message WHERE type IN ('parent_question', 'user_question')) q) AS questions`;

interface Read {
  readonly tasks: readonly TaskRead[];
  readonly sessions: readonly SessionRead[];
  readonly entries: readonly EntryRead[];
  readonly turns: readonly TurnRead[];
  readonly questions: readonly QuestionRead[];
}
interface TaskRead {
  readonly id: string;
  readonly title: string;
  readonly parent_id: string | null;
  readonly autopilot: boolean;
  readonly state: Task['state'];
  readonly archived: boolean;
  readonly open_children: number;
  readonly deleted: boolean;
  readonly blockers: readonly string[];
}
interface SessionRead {
  readonly id: string;
  readonly name: string;
  readonly task_id: string;
  readonly is_primary: boolean;
  readonly state: Session['state'];
  readonly auto_run: boolean;
  readonly epoch: number;
  readonly lease: Session['lease'];
  readonly runnable: boolean;
}
interface EntryRead {
  readonly id: string;
  readonly session_id: string;
  readonly rank: number;
  readonly revision: number;
  readonly kind: Entry['kind'];
  readonly state: Entry['state'];
  readonly sender_kind: 'operator' | 'task' | 'system';
  readonly sender_task_id: string | null;
  readonly question_id: string | null;
  readonly words: string | null;
}
interface TurnRead {
  readonly id: string;
  readonly session_id: string;
  readonly opening_entry_id: string;
  readonly outcome: string | null;
  readonly ended_by_question_id: string | null;
  readonly signalled: boolean;
  readonly stopping: boolean;
  readonly parked: boolean;
  readonly backing_off: boolean;
  readonly involuntary_resumes: number;
}
interface QuestionRead {
  readonly id: string;
  readonly session_id: string;
  readonly type: 'parent_question' | 'user_question';
  readonly turn_id: string | null;
  readonly notified: boolean;
  readonly metadata: {
    readonly status: string;
    readonly cause?: string;
    readonly parent_task_id: string;
    readonly parent_entry_id: string;
    readonly reminder_entry_id?: string;
    readonly caused_by_question_id?: string | null;
    readonly answer?: { readonly text: string };
    readonly questions: readonly { readonly prompt: string }[];
  };
}

export class Rows {
  readonly model: Model;
  /** Sessions that the product believes to have work. */
  readonly runnable: ReadonlySet<string>;
  readonly #names = new Map<string, string>();
  readonly #ids = new Map<string, string>();
  readonly #tasks = new Map<string, string>();
  readonly #turns = new Map<string, readonly string[]>();
  readonly #places = new Map<string, Place>();
  readonly #entries = new Map<string, readonly string[]>();

  private constructor(
    private readonly read: Read,
    claims: ReadonlyMap<string, ClaimedTurn>,
  ) {
    for (const { id, title } of read.tasks) this.#name(id, `task ${title}`, title);
    for (const session of read.sessions) this.#nameSession(session);
    for (const { id, metadata } of read.questions) this.#name(id, `question ${unmarked(metadata)}`, unmarked(metadata));
    this.model = {
      tasks: read.tasks.map((task) => this.#toTask(task)),
      sessions: read.sessions.map((session) => this.#toSession(session)),
      questions: read.questions.filter(({ type }) => type === 'parent_question').map((question) => this.#toQuestion(question)),
      userQuestions: read.questions.filter(({ type }) => type === 'user_question').map((question) => this.#toUserQuestion(question)),
      claims: Object.fromEntries(
        [...claims].map(([name, { lease, turn }]) => [name, { epoch: Number(lease.epoch), turn: turn.number - 1 }]),
      ),
    };
    this.runnable = new Set(read.sessions.filter(({ runnable }) => runnable).map(({ id }) => this.#nameOf(id)));
  }

  static async read(world: World, claims: ReadonlyMap<string, ClaimedTurn>): Promise<Rows> {
    const [row] = await world.rows<Read>(READ);
    if (!row) throw new Error('a SELECT without FROM returned no row');
    return new Rows(row, claims);
  }

  taskId = (name: string): string => this.#idOf(`task ${name}`);
  sessionId = (name: string): string => this.#idOf(`session ${name}`);
  questionId = (name: string): string => this.#idOf(`question ${name}`);
  taskIdOf = (session: string): string => this.#idOf(`task ${this.#tasks.get(session) ?? ''}`);
  entryId = ({ session, entry }: Place): string => this.#entries.get(session)?.[entry] ?? '';
  turnId = (session: string, turn: number): string => this.#turns.get(session)?.[turn] ?? '';

  #name(id: string, key: string, name: string): void {
    this.#names.set(id, name);
    this.#ids.set(key, id);
  }

  /** The session that a task began with is named as the task. */
  #nameSession({ id, name, task_id }: SessionRead): void {
    const own = name === '' ? this.#nameOf(task_id) : name;
    this.#name(id, `session ${own}`, own);
    this.#tasks.set(own, this.#nameOf(task_id));
    const entries = this.read.entries.filter(({ session_id }) => session_id === id).map((entry) => entry.id);
    entries.forEach((entry, at) => this.#places.set(entry, { session: own, entry: at }));
    this.#entries.set(own, entries);
    const turns = this.read.turns.filter(({ session_id }) => session_id === id);
    this.#turns.set(
      own,
      turns.map((turn) => turn.id),
    );
  }

  #idOf(key: string): string {
    const id = this.#ids.get(key);
    if (id === undefined) throw new Error(`there is no ${key}`);
    return id;
  }

  #nameOf(id: string): string {
    const name = this.#names.get(id);
    if (name === undefined) throw new Error(`nothing is named by ${id}`);
    return name;
  }

  #nameOrNull = (id: string | null | undefined): string | null => (id ? this.#nameOf(id) : null);

  #place(id: string): Place {
    const place = this.#places.get(id);
    if (!place) throw new Error(`there is no entry ${id}`);
    return place;
  }

  #toTask({ title, parent_id, autopilot, state, archived, open_children, deleted, blockers }: TaskRead): Task {
    const around = {
      parent: this.#nameOrNull(parent_id),
      openChildren: open_children,
      blockers: blockers.map((id) => this.#nameOf(id)).sort(),
    };
    return { name: title, autopilot, state, archived, isDeleted: deleted, ...around };
  }

  #toSession({ id, task_id, is_primary, state, auto_run, epoch, lease }: SessionRead): Session {
    const entries = this.read.entries.filter(({ session_id }) => session_id === id).map((entry) => this.#toEntry(entry));
    const turns = this.read.turns.filter(({ session_id }) => session_id === id).map((turn) => this.#toTurn(turn));
    const common = { name: this.#nameOf(id), task: this.#nameOf(task_id), isPrimary: is_primary, autoRun: auto_run };
    return { ...common, state, epoch, lease, entries, turns };
  }

  #toEntry({ kind, rank, sender_kind, sender_task_id, words, question_id, revision, state }: EntryRead): Entry {
    const sender = this.#nameOrNull(sender_task_id);
    const from = sender_kind === 'task' ? (sender ?? '') : sender_kind;
    const isSaid = kind === 'prompt' || kind === 'answer';
    return {
      kind,
      rank,
      from,
      words: isSaid ? words : null,
      question: this.#nameOrNull(question_id),
      about: sender_kind === 'system' ? sender : null,
      revision,
      state,
    };
  }

  #toTurn(turn: TurnRead): Turn {
    return {
      entry: this.#place(turn.opening_entry_id).entry,
      outcome: turn.outcome,
      asked: this.#nameOrNull(turn.ended_by_question_id),
      isSignalled: turn.signalled,
      isStopping: turn.stopping,
      isParked: turn.parked,
      isBackingOff: turn.backing_off,
      takeovers: turn.involuntary_resumes,
    };
  }

  #toQuestion({ id, session_id, metadata, notified }: QuestionRead): Question {
    return {
      name: this.#nameOf(id),
      session: this.#nameOf(session_id),
      parent: this.#nameOf(metadata.parent_task_id),
      causedBy: this.#nameOrNull(metadata.caused_by_question_id),
      status: metadata.status as Question['status'],
      cause: metadata.cause ?? null,
      answer: metadata.answer ? (/W\[([a-z0-9.]+)\]/.exec(metadata.answer.text)?.[1] ?? '') : null,
      told: this.#place(metadata.parent_entry_id),
      reminder: metadata.reminder_entry_id ? this.#place(metadata.reminder_entry_id) : null,
      isOperatorNotified: notified,
    };
  }

  #toUserQuestion({ id, session_id, turn_id, metadata }: QuestionRead): UserQuestion {
    const session = this.#nameOf(session_id);
    const turn = turn_id === null ? null : (this.#turns.get(session)?.indexOf(turn_id) ?? null);
    return { name: this.#nameOf(id), session, turn, status: metadata.status as UserQuestion['status'] };
  }
}

const unmarked = ({ questions }: QuestionRead['metadata']): string => questions[0]?.prompt.slice(2, -1) ?? '';
