/**
 * Locks for an intention that ends or settles something (K11): tasks by id, then sessions by id, then everything else.
 *
 * L1  Call one of these before the first write, and call it once: a second round of locks breaks the order.
 * L2  What was read before the locks is read again under them; if it grew, the whole transaction runs again.
 */
import {
  ChangedMeanwhile,
  findQuestion,
  type Lease,
  listFamilyTaskIds,
  lockSessionSets,
  lockTasks,
  type QuestionRow,
  type SessionRow,
  type TaskRow,
} from '@echelon/persistence';
import type { Unit } from '../unit-of-work.js';

export interface Family {
  /** The tasks themselves and the tasks that they block, all with their parents; and the others that were asked for. */
  readonly tasks: ReadonlyMap<string, TaskRow>;
  /** Live sessions of all these tasks, sessions of children that wait for the tasks' answer, and those that hold their questions. */
  readonly sessions: readonly SessionRow[];
}

/**
 * Locks everything that ending these tasks, or any of their sessions, may touch, and `others`, tasks of which only the rows change.
 * A task that does not exist is absent.
 */
export async function lockFamilies(unit: Unit, taskIds: readonly string[], others: readonly string[] = []): Promise<Family> {
  const ids = await listFamilyTaskIds(unit, taskIds);
  const [tasks, relevant, sessions] = await Promise.all([
    lockTasks(unit, [...ids, ...others]),
    listFamilyTaskIds(unit, taskIds),
    lockSessionSets(unit, { liveOf: ids, waitingFor: taskIds, askedBy: taskIds }),
  ]);
  if (relevant.some((id) => !ids.includes(id))) throw new ChangedMeanwhile('the family of a task');
  return { tasks: new Map(tasks.map((task) => [task.id, task])), sessions };
}

export interface HeldSession {
  readonly task: TaskRow;
  readonly session: SessionRow;
}

/** Locks what settling a turn may touch, and checks the lease under the lock: `null` when it is lost (K4, K5). */
export async function lockForSettlement(unit: Unit, taskId: string, lease: Lease): Promise<HeldSession | null> {
  const { tasks, sessions } = await lockFamilies(unit, [taskId]);
  return checkLease(tasks.get(taskId), sessions, lease);
}

/** The same for a settlement that neither ends the task nor tells its parent: siblings do not wait for each other. */
export async function lockForRest(unit: Unit, taskId: string, lease: Lease): Promise<HeldSession | null> {
  const [[task], sessions] = await Promise.all([
    lockTasks(unit, [taskId]),
    lockSessionSets(unit, { liveOf: [taskId], waitingFor: [taskId] }),
  ]);
  return checkLease(task, sessions, lease);
}

function checkLease(task: TaskRow | undefined, sessions: readonly SessionRow[], lease: Lease): HeldSession | null {
  const session = sessions.find(({ id }) => id === lease.sessionId);
  if (!task || !session?.lease_owner || session.lease_epoch !== lease.epoch) return null;
  return { task, session };
}

/** Locks what ending one question may touch, and other sessions, and reads the question again; `null` when its session or it is gone. */
export async function lockQuestion(
  unit: Unit,
  found: QuestionRow,
  others: readonly string[] = [],
): Promise<{ readonly task: TaskRow; readonly session: SessionRow; readonly question: QuestionRow } | null> {
  const [[task], sessions, question] = await Promise.all([
    lockTasks(unit, [found.metadata.task_id]),
    lockSessionSets(unit, { liveOf: [], ids: [found.session_id, ...others], askedBy: [found.metadata.task_id] }),
    findQuestion(unit, found.id),
  ]);
  const session = sessions.find(({ id }) => id === found.session_id);
  if (!task || !session || !question) return null;
  if (question.metadata.parent_session_id !== found.metadata.parent_session_id) throw new ChangedMeanwhile('the receiver of a question');
  return { task, session, question };
}
