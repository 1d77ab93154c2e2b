/** Which session of a task receives what the protocol itself writes: questions, reminders, alerts. */
import { chooseTargetSession, isRefusal, type ParentReach, receivesTools, sessionMachine } from '@echelon/domain';
import { listLiveSessions, type SessionRow } from '@echelon/persistence';
import type { Unit } from '../unit-of-work.js';

/** Whether the session's agent has the tools to answer a question: a live task session whose runtime receives ours. */
function canAnswer(session: SessionRow): boolean {
  return session.kind === 'task' && receivesTools(session.runtime) && !sessionMachine.isTerminal(session.state);
}

/** The live primary among those that can answer, else the newest of them (A9, A11, A12). */
export function reachOf(sessions: readonly SessionRow[]): ParentReach {
  const able = sessions.filter(canAnswer).toSorted((a, b) => a.created_at.getTime() - b.created_at.getTime());
  const target = chooseTargetSession(
    able.map((session, age) => ({ id: session.id, state: session.state, isPrimary: session.is_primary, age })),
    null,
  );
  return isRefusal(target) ? { kind: 'none' } : { kind: 'session', sessionId: target.sessionId };
}

/** How the task is reached now. */
export async function reachTask(unit: Unit, taskId: string): Promise<ParentReach> {
  return reachOf(await listLiveSessions(unit, taskId));
}
