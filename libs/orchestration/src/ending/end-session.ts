/** Ending sessions. The caller holds the locks of `lockFamilies` for the session's task. */
import { KEPT_WHEN_STOPPED, type QuestionEndCause } from '@echelon/domain';
import {
  cancelSessionQuestions,
  endLiveSession,
  failEntries,
  failKeptEntries,
  findOpenTurn,
  findPendingQuestion,
  listLiveSessions,
  type SessionRow,
} from '@echelon/persistence';
import { followChange } from '../session-queue.js';
import type { Unit } from '../unit-of-work.js';
import { closeTurn } from './close-turn.js';
import { endQuestion, endQuestionsTo, releaseQuestionsOf } from './end-question.js';

export type SessionEndState = 'completed' | 'failed' | 'cancelled';
/** Why a session ends; it is also why its own question becomes stale (S3). */
export type SessionEndCause = Extract<QuestionEndCause, 'session_ended' | 'task_ended' | 'task_archived' | 'task_deleted'>;

/** Why a child's question becomes stale when its parent's last session ends (S4). */
const CAUSE_FOR_CHILDREN: Readonly<Record<SessionEndCause, QuestionEndCause>> = {
  session_ended: 'parent_ended',
  task_ended: 'parent_ended',
  task_archived: 'parent_archived',
  task_deleted: 'parent_deleted',
};

/**
 * Ends a session; one that has ended already is left. Its holder is fenced and its tokens are revoked, its open turn closes
 * (`interrupted` when the session failed, else `stopped`), its own questions end (S3, S9), and
 * questions that it was to answer move to another session of the task or become stale (S4).
 * What waits in its queue fails; of one that was stopped while its task goes on, ordinary entries are kept, paused, for the task's next
 * session.
 */
export async function endSession(unit: Unit, session: SessionRow, state: SessionEndState, cause: SessionEndCause): Promise<void> {
  const stopped = cause === 'session_ended';
  const ended = await endLiveSession(unit, session.id, state, { pauses: stopped });
  if (!ended) return;
  unit.passTurn(ended.task_id, ended.id);
  const turn = await findOpenTurn(unit, ended.id);
  const outcome = state === 'failed' ? 'interrupted' : 'stopped';
  if (turn) await closeTurn(unit, ended, turn, { outcome, detail: cause, taskOver: !stopped });
  await cancelSessionQuestions(unit, ended.id);
  const question = await findPendingQuestion(unit, ended.id);
  if (question) await endQuestion(unit, question, 'stale', cause);
  await releaseQuestionsOf(unit, ended, CAUSE_FOR_CHILDREN[cause]);
  await followChange(unit, await failEntries(unit, ended.id, cause, stopped ? KEPT_WHEN_STOPPED : []));
  await unit.tell({
    workspaceId: ended.workspace_id,
    type: 'session.updated',
    taskId: ended.task_id,
    sessionId: ended.id,
    data: { state },
  });
}

/** Ends all live sessions of a task; questions that they should have answered are stale at once, and what earlier ones kept fails with a task that ends. */
export async function endSessionsOf(unit: Unit, taskId: string, state: SessionEndState, cause: SessionEndCause): Promise<void> {
  await endQuestionsTo(unit, taskId, CAUSE_FOR_CHILDREN[cause]);
  for (const session of await listLiveSessions(unit, taskId)) await endSession(unit, session, state, cause);
  if (cause !== 'session_ended') await followChange(unit, await failKeptEntries(unit, taskId, cause));
}
