/** What a sequence has brought about, in words: a long run that never got somewhere has proven nothing about it. */
import type { NamedCommand } from './commands.js';
import { type Model, openTurn, type Question, type Session } from './model.js';

/** The facts that hold in the state. */
export function factsOf({ tasks, sessions, questions }: Model): readonly string[] {
  const entries = sessions.flatMap((session) => session.entries);
  const turns = sessions.flatMap((session) => session.turns);
  const found: Readonly<Record<string, boolean>> = {
    'a relayed question': questions.some(({ causedBy }) => causedBy !== null),
    'a reminder': entries.some(({ kind, state }) => kind === 'reminder' && state === 'delivered'),
    'a notified operator': questions.some(({ reminder, isOperatorNotified }) => reminder !== null && isOperatorNotified),
    'a question told anew': questions.some((question) => tells(question, sessions) > 1),
    'a question taken back': entries.some(({ kind, state }) => kind === 'question' && state === 'cancelled'),
    'an alert of a bad end': entries.some(({ kind, about }) => kind === 'alert' && about !== null),
    'an alert of completed children': entries.some(({ kind, about }) => kind === 'alert' && about === null),
    'an interrupt': entries.some(({ rank }) => rank === 1),
    'an entry that failed': entries.some(({ state }) => state === 'failed'),
    'a task that waits for another': tasks.some(({ state }) => state === 'blocked'),
    'a parked turn': turns.some(({ isParked }) => isParked),
    'a turn that nobody holds beside one that runs': sessions.some(
      (one) => isUnheld(one) && sessions.some((other) => runsBeside(other, one)),
    ),
    'a turn given up': turns.some(({ takeovers, outcome }) => takeovers === 3 && outcome === 'interrupted'),
  };
  const causes = questions.map(({ status, cause }) => `a question ${status}${cause ? `: ${cause}` : ''}`);
  return [...Object.keys(found).filter((fact) => found[fact]), ...new Set(causes)];
}

const isUnheld = (s: Session): boolean => s.lease === 'none' && openTurn(s)?.isParked === false;
const runsBeside = (one: Session, other: Session): boolean =>
  one.task === other.task && one.lease === 'live' && openTurn(one) !== undefined;

const tells = ({ name }: Question, sessions: Model['sessions']): number =>
  sessions.flatMap(({ entries }) => entries).filter(({ kind, question }) => kind === 'question' && question === name).length;

/** That a command had an outcome, in the words of `MUST_HAPPEN`. */
export const outcomeFact = ({ do: kind }: NamedCommand, outcome: string): string => `${kind} ${outcome.split(' ')[0]}`;

/** What a long run must have seen. */
export const MUST_HAPPEN: readonly string[] = [
  'a relayed question',
  'a reminder',
  'a notified operator',
  'a question told anew',
  'a question taken back',
  'an alert of a bad end',
  'an alert of completed children',
  'an interrupt',
  'an entry that failed',
  'a parked turn',
  'a turn given up',
  'a turn that nobody holds beside one that runs',
  'a question answered',
  ...['operator_prompt', 'parent_prompt'].map((cause) => `a question superseded: ${cause}`),
  ...[
    ...['session_ended', 'task_ended', 'task_archived', 'task_deleted'],
    ...['parent_ended', 'parent_archived', 'parent_deleted', 'parent_changed', 'timeout'],
  ].map((cause) => `a question stale: ${cause}`),
  ...[
    'sent',
    'queued',
    'already_answered',
    'QUESTION_UNKNOWN',
    'QUESTION_NOT_YOURS',
    'QUESTION_TARGET_MISMATCH',
    'QUESTION_NOT_PENDING',
  ].map((outcome) => `answer ${outcome}`),
  ...['asked', 'NOT_AUTOPILOT', 'NO_PARENT', 'PARENT_UNAVAILABLE', 'TURN_ENDED_BY_QUESTION', 'SESSION_TERMINAL'].map(
    (outcome) => `ask ${outcome}`,
  ),
  ...['started', 'sent', 'queued', 'NOT_DIRECT_PARENT', 'SELF_MESSAGE', 'SESSION_TERMINAL', 'TASK_ARCHIVED'].map(
    (outcome) => `message ${outcome}`,
  ),
  ...['released', 'run', 'resume', 'lost'].map((outcome) => `end ${outcome}`),
  ...['spawn spawned', 'reparent moved', 'reparent PARENT_NOT_USABLE', 'delete deleted', 'a task that waits for another'],
  ...['add_dependency added', 'add_dependency DEPENDENCY_IN_LINE', 'remove_dependency removed'],
  ...['edit_entry edited', 'move_entry moved', 'remove_entry removed'],
];
