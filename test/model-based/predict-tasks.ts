/** Tasks and their sessions: creation, stop, archive, states (contract §2, §6). */
import { type Predictions, refuseCaller, refuseOutsider, senderOf, taskOf } from './authority.js';
import { enqueue, isActive, isEnded, isWithin, liveSessions, type Model, named, type Session, stateAfter, type Task } from './model.js';
import { endSession, endSessionsOf, endTask, haltDependents, leaveParent } from './model-endings.js';

export const TASKS: Predictions<'create' | 'stop_task' | 'archive' | 'unarchive' | 'set_state' | 'open_session' | 'end_session'> = {
  create(m, { name, by, parent, autopilot, starts }) {
    if (by.kind === 'agent' && (parent === null || !isWithin(m, parent, taskOf(m, by)))) return 'FORBIDDEN';
    const above = parent === null ? null : named(m.tasks, parent);
    const refusal = refuseCaller(m, by) ?? (above && refuseParent(above));
    if (refusal) return refusal;
    if (above) above.openChildren += 1;
    m.tasks.push({ name, parent, autopilot, state: 'ready', archived: false, openChildren: 0, blockers: [], isDeleted: false });
    const session = addSession(m, name, name, true);
    if (starts) enqueue(session, { kind: 'prompt', rank: 3, from: senderOf(m, by), words: name });
    return 'created';
  },

  stop_task(m, { by, task: name, cascade }) {
    const task = named(m.tasks, name);
    if (by.kind === 'agent' && task.parent !== taskOf(m, by)) return 'NOT_DIRECT_PARENT';
    const refusal = refuseCaller(m, by);
    if (refusal) return refusal;
    let level = [task];
    let isStopped = stopSessions(m, task);
    while (cascade && level.length > 0) {
      level = m.tasks.filter(({ parent }) => level.some((above) => above.name === parent));
      for (const below of level) isStopped = stopSessions(m, below) || isStopped;
    }
    return isStopped ? 'stopped' : 'not_running';
  },

  archive(m, { by, task: name }) {
    const task = named(m.tasks, name);
    const refusal = refuseOutsider(m, by, name) ?? refuseCaller(m, by);
    if (refusal) return refusal;
    if (task.archived) return 'already_archived';
    const wasEnded = isEnded(task);
    task.archived = true;
    endSessionsOf(m, name, 'cancelled', 'task_archived');
    if (task.state === 'in_progress' || task.state === 'waiting') task.state = 'review';
    if (!wasEnded) leaveParent(m, task.parent);
    if (!wasEnded) haltDependents(m, name);
    return 'archived';
  },

  unarchive(m, { by, task: name }) {
    const task = named(m.tasks, name);
    const refusal = refuseOutsider(m, by, name) ?? refuseCaller(m, by);
    if (refusal) return refusal;
    if (task.archived && !isEnded(task) && task.parent !== null) named(m.tasks, task.parent).openChildren += 1;
    task.archived = false;
    return 'unarchived';
  },

  set_state(m, { task: name, state }) {
    const task = named(m.tasks, name);
    if (task.archived) return 'TASK_ARCHIVED';
    if (state === task.state) return 'updated';
    if (isEnded(task)) return 'TASK_TERMINAL';
    if (state !== 'review') endTask(m, task, state);
    else if (task.state === 'blocked' || isBusy(m, name)) return 'STATE_CONFLICT';
    else task.state = 'review';
    return 'updated';
  },

  open_session(m, { name, task }) {
    addSession(m, name, task, false);
    return 'opened';
  },

  end_session(m, { session: name }) {
    const session = named(m.sessions, name);
    if (isEnded(session)) return 'over';
    endSession(m, session, 'cancelled', 'session_ended');
    return 'ended';
  },
};

const isBusy = (m: Model, task: string): boolean => liveSessions(m, task).some(isActive);

export function addSession(m: Model, name: string, task: string, isPrimary: boolean): Session {
  const fresh = { state: 'created', autoRun: true, epoch: 0, lease: 'none', entries: [], turns: [] } as const;
  const session: Session = { name, task, isPrimary, ...fresh, entries: [], turns: [] };
  m.sessions.push(session);
  return session;
}

export function refuseParent(parent: Task): string | null {
  if (parent.archived) return 'TASK_ARCHIVED';
  return isEnded(parent) ? 'PARENT_NOT_USABLE' : null;
}

function stopSessions(m: Model, task: Task): boolean {
  const isStopped = endSessionsOf(m, task.name, 'cancelled', 'session_ended');
  if (isStopped) task.state = stateAfter(task, 'rest') ?? task.state;
  return isStopped;
}
