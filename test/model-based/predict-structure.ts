/** What changes the shape of a forest: parents, dependencies, deletions, and more sessions of a task (contract S3, S4, §8; K20). */
import { type Predictions, refuseCaller, senderOf, taskOf } from './authority.js';
import type { Who } from './commands.js';
import { enqueue, isEnded, isWithin, type Model, named, pendingOf, queued, type Session, type Task, liveSessions } from './model.js';
import { endQuestion, endSessionsOf, endTask, followDependencies, leaveParent } from './model-endings.js';
import { rearrange } from './places.js';
import { addSession, refuseParent } from './predict-tasks.js';

type Kinds = 'spawn' | 'reparent' | 'delete' | 'add_dependency' | 'remove_dependency';

export const STRUCTURE: Predictions<Kinds> = {
  spawn(m, { name, by, task: target, primary, repeats }) {
    const task = named(m.tasks, target);
    if (by.kind === 'agent' && task.parent !== taskOf(m, by)) return 'NOT_DIRECT_PARENT';
    const refusal = refuseCaller(m, by);
    if (refusal) return refusal;
    if (task.archived) return 'TASK_ARCHIVED';
    if (isEnded(task)) return 'TASK_TERMINAL';
    const present = m.sessions.find((s) => s.task === target && s.isPrimary);
    const isPrimary = primary || !present || isEnded(present);
    if (isPrimary && present) present.isPrimary = false;
    const session = addSession(m, name, target, isPrimary);
    const words = repeats ? target : name;
    enqueue(session, { kind: 'prompt', rank: 3, from: senderOf(m, by), words });
    takeKept(m, session, words);
    return 'spawned';
  },

  reparent(m, { task: name, parent }) {
    const task = named(m.tasks, name);
    if (task.parent === parent) return 'moved';
    const refusal = refuseMove(m, task, parent === null ? null : named(m.tasks, parent));
    if (refusal) return refusal;
    const { parent: before } = task;
    task.parent = parent;
    for (const session of liveSessions(m, name)) {
      const question = pendingOf(m, session.name);
      if (question) endQuestion(m, question, 'stale', 'parent_changed');
    }
    if (isEnded(task)) return 'moved';
    leaveParent(m, before);
    if (parent !== null) named(m.tasks, parent).openChildren += 1;
    return 'moved';
  },

  delete(m, { by, task: name, cascade }) {
    const task = named(m.tasks, name);
    if (by.kind === 'agent' && task.parent !== taskOf(m, by)) return 'NOT_DIRECT_PARENT';
    const children = childrenOf(m, [name]);
    if (!cascade && by.kind === 'agent' && children.length > 0) return 'CONFLICT';
    const refusal = refuseCaller(m, by);
    if (refusal) return refusal;
    markDeleted(m, task, cascade ? [] : children);
    return cascade ? `deleted ${1 + deleteLevels(m, children)} detached 0` : `deleted 1 detached ${children.length}`;
  },

  add_dependency(m, { by, task: name, blocker: waitedFor }) {
    const [task, blocker] = [named(m.tasks, name), named(m.tasks, waitedFor)];
    const refusal = refuseStranger(m, by, task) ?? refuseCaller(m, by);
    if (refusal) return refusal;
    if (task.blockers.includes(waitedFor)) return 'added';
    const refused = refuseDependency(m, task, blocker);
    if (refused) return refused;
    task.blockers = [...task.blockers, waitedFor].sort();
    followDependencies(m, task);
    return 'added';
  },

  remove_dependency(m, { by, task: name, blocker }) {
    const task = named(m.tasks, name);
    const refusal = refuseStranger(m, by, task) ?? refuseCaller(m, by);
    if (refusal) return refusal;
    task.blockers = task.blockers.filter((one) => one !== blocker);
    followDependencies(m, task);
    return 'removed';
  },
};

/** What stopped sessions kept comes behind the prompt that opens the new one, but for that prompt itself. */
function takeKept(m: Model, to: Session, opening: string): void {
  const from = m.sessions.filter((s) => s.task === to.task && isEnded(s));
  const kept = from.flatMap(queued).toSorted((a, b) => a.rank - b.rank);
  rearrange(m, () => {
    for (const entry of kept) {
      const holder = from.find(({ entries }) => entries.includes(entry));
      holder?.entries.splice(holder.entries.indexOf(entry), 1);
      to.entries.push(Object.assign(entry, { rank: 3 }));
      if (entry.words === opening) entry.state = 'cancelled';
    }
  });
}

function refuseMove(m: Model, task: Task, parent: Task | null): string | null {
  if (task.archived) return 'TASK_ARCHIVED';
  if (!parent) return null;
  if (isWithin(m, parent.name, task.name)) return 'PARENT_NOT_USABLE';
  const above = m.tasks.filter((one) => isWithin(m, parent.name, one.name));
  const below = m.tasks.filter((one) => isWithin(m, one.name, task.name));
  const isWaitedFor = [...upstreamOf(m, below)].some((one) => above.includes(one));
  const waits = above.some(({ blockers }) => below.some(({ name }) => blockers.includes(name)));
  return refuseParent(parent) ?? (isWaitedFor || waits ? 'DEPENDENCY_IN_LINE' : null);
}

/** The tasks, and all that they wait for, also through others. */
function upstreamOf(m: Model, tasks: readonly Task[]): ReadonlySet<Task> {
  const found = new Set(tasks);
  for (const { blockers } of found) for (const name of blockers) found.add(named(m.tasks, name));
  return found;
}

function refuseDependency(m: Model, task: Task, blocker: Task): string | null {
  if (upstreamOf(m, [blocker]).has(task)) return 'DEPENDENCY_CYCLE';
  if (isEnded(task)) return 'TASK_TERMINAL';
  if (task.archived) return 'TASK_ARCHIVED';
  if (blocker.archived && blocker.state !== 'completed') return 'TASK_ARCHIVED';
  if (isEnded(blocker) && blocker.state !== 'completed') return 'TASK_TERMINAL';
  if (isWithin(m, blocker.name, task.name)) return 'DEPENDENCY_IN_LINE';
  const waiting = m.tasks.filter((one) => upstreamOf(m, [one]).has(task));
  const isAbove = (one: Task) => waiting.some(({ name }) => name !== one.name && isWithin(m, name, one.name));
  return [...upstreamOf(m, [blocker])].some(isAbove) ? 'DEPENDENCY_IN_LINE' : null;
}

function refuseStranger(m: Model, by: Who, task: Task): string | null {
  return by.kind === 'operator' || [task.name, task.parent].includes(taskOf(m, by)) ? null : 'FORBIDDEN';
}

const childrenOf = (m: Model, parents: readonly string[]): Task[] =>
  m.tasks.filter(({ parent }) => parent !== null && parents.includes(parent));

function deleteLevels(m: Model, level: readonly Task[]): number {
  if (level.length === 0) return 0;
  const below = childrenOf(
    m,
    level.map(({ name }) => name),
  );
  for (const task of level) markDeleted(m, task, []);
  return level.length + deleteLevels(m, below);
}

/** It counts as cancelled for its parent and for what waits for it (D3 of the product's deletion). */
function markDeleted(m: Model, task: Task, detached: readonly Task[]): void {
  const { parent } = task;
  const isCounted = !task.archived && !isEnded(task);
  endSessionsOf(m, task.name, 'cancelled', 'task_deleted');
  if (detached.length > 0) task.openChildren = 0;
  for (const child of detached) child.parent = null;
  Object.assign(task, { isDeleted: true, parent: null, blockers: [] });
  for (const question of m.questions) if (question.parent === task.name) question.isOperatorNotified = false;
  const alerts = parent === null ? [] : liveSessions(m, parent).flatMap(queued);
  for (const entry of alerts) if (entry.kind === 'alert' && entry.about === task.name) entry.state = 'cancelled';
  if (!isCounted) return;
  endTask(m, task, 'cancelled');
  leaveParent(m, parent);
}
