/** Questions, answers and messages (contract §4, §5, §8). */
import { type Predictions, refuseCaller, refuseTurn, senderOf, taskOf } from './authority.js';
import { type Who } from './commands.js';
import { enqueue, isClosed, isEnded, type Model, named, nextWork, openTurn, pendingOf, queued, receiverOf, type Session } from './model.js';
import { endQuestion, stopTurn, withdraw } from './model-endings.js';

const QUEUE_CAP = 10;

export const QUESTIONS: Predictions<'ask' | 'answer' | 'message' | 'time_out' | 'ask_user' | 'answer_user'> = {
  ask(m, { name, by, key }) {
    const asker = named(m.sessions, by.session);
    const task = named(m.tasks, asker.task);
    const same = m.questions.find((q) => q.name === key && q.session === asker.name);
    if (!same && isEnded(asker)) return 'SESSION_TERMINAL';
    const existing = same ?? (task.autopilot && task.parent !== null ? pendingOf(m, asker.name) : undefined);
    const turn = openTurn(asker);
    if (existing) {
      if (turn && existing.status === 'pending') turn.asked ??= existing.name;
      return `asked ${existing.name}`;
    }
    if (!task.autopilot) return 'NOT_AUTOPILOT';
    if (task.parent === null) return 'NO_PARENT';
    const parent = named(m.tasks, task.parent);
    const reader = isClosed(parent) ? undefined : receiverOf(m, parent.name);
    if (!reader) return 'PARENT_UNAVAILABLE';
    const refusal = refuseTurn(m, by);
    if (refusal) return refusal;
    enqueue(reader, { kind: 'question', rank: 2, from: task.name, question: name });
    const told = { session: reader.name, entry: reader.entries.length - 1 };
    const common = { status: 'pending', cause: null, answer: null, reminder: null, isOperatorNotified: !reader.autoRun } as const;
    m.questions.push({ ...common, name, session: asker.name, parent: parent.name, causedBy: causeOf(m, asker), told });
    if (turn) turn.asked = name;
    return `asked ${name}`;
  },

  answer(m, { name, by, task, session, question: asked }) {
    const question = m.questions.find((q) => q.name === asked);
    const asker = question && named(m.sessions, question.session);
    if (!question || !asker || named(m.tasks, asker.task).isDeleted) return 'QUESTION_UNKNOWN';
    if (by.kind === 'operator' || taskOf(m, by) !== question.parent) return 'QUESTION_NOT_YOURS';
    if (task !== asker.task || (session !== null && session !== asker.name)) return 'QUESTION_TARGET_MISMATCH';
    if (question.status === 'answered') return 'already_answered';
    if (question.status !== 'pending') return 'QUESTION_NOT_PENDING';
    if (named(m.tasks, asker.task).parent !== question.parent) return 'QUESTION_NOT_YOURS';
    const refusal = refuseCaller(m, by);
    if (refusal) return refusal;
    const before = asker.state;
    if (before === 'waiting_for_input') asker.state = 'idle';
    Object.assign(question, { status: 'answered', answer: name });
    const entry = enqueue(asker, { kind: 'answer', rank: 0, from: question.parent, words: name, question: question.name });
    withdraw(m, question);
    return before !== 'running' && nextWork(m, asker) === entry ? 'sent' : 'queued';
  },

  message(m, { name, by, task: target, session: explicit, interrupts }) {
    const task = named(m.tasks, target);
    const refusal = refuseCaller(m, by) ?? (task.archived ? 'TASK_ARCHIVED' : null);
    if (refusal) return refusal;
    const to = explicit === null ? receiverOf(m, target) : named(m.sessions, explicit);
    if (to && to.task !== target) return 'SESSION_NOT_OF_TASK';
    if (!to || isEnded(to)) return 'SESSION_TERMINAL';
    if (by.kind === 'agent' && by.session === to.name) return 'SELF_MESSAGE';
    const isParent = by.kind === 'agent' && task.parent === taskOf(m, by);
    if (interrupts && !isParent) return 'NOT_DIRECT_PARENT';
    return deliver(m, to, { name, by, interrupts, isAbove: isParent || by.kind === 'operator' });
  },

  time_out(m, { question: name }) {
    const question = named(m.questions, name);
    if (question.status !== 'pending') return 'over';
    endQuestion(m, question, 'stale', 'timeout');
    return 'stale';
  },

  ask_user(m, { name, by }) {
    const asker = named(m.sessions, by.session);
    if (isEnded(asker)) return 'SESSION_TERMINAL';
    if (named(m.tasks, asker.task).autopilot) return 'TOOL_NOT_OFFERED';
    const refusal = refuseTurn(m, by);
    if (refusal) return refusal;
    m.userQuestions.push({ name, session: asker.name, turn: openTurn(asker) ? asker.turns.length - 1 : null, status: 'pending' });
    return 'asked';
  },

  answer_user(m, { question, rejects }) {
    const found = named(m.userQuestions, question);
    if (named(m.tasks, named(m.sessions, found.session).task).isDeleted) return 'NOT_FOUND';
    if (found.status !== 'pending') return 'lost';
    found.status = rejects ? 'rejected' : 'answered';
    return 'claimed';
  },
};

interface Delivery {
  readonly name: string;
  readonly by: Who;
  readonly interrupts: boolean;
  /** From the operator or the direct parent: it ends a wait (S1). */
  readonly isAbove: boolean;
}

/** The table of contract §8. */
function deliver(m: Model, to: Session, { name, by, interrupts, isAbove }: Delivery): string {
  const before = to.state;
  const pending = pendingOf(m, to.name);
  const turn = openTurn(to);
  const supersedes = pending !== undefined && isAbove;
  const isInterrupt = interrupts && turn !== undefined;
  const ordinary = queued(to).filter(({ kind }) => kind === 'prompt').length;
  if (!supersedes && !isInterrupt && ordinary >= QUEUE_CAP) return 'QUEUE_FULL';
  if (supersedes) endQuestion(m, pending, 'superseded', by.kind === 'operator' ? 'operator_prompt' : 'parent_prompt');
  if (isInterrupt) stopTurn(m, to, turn);
  const rank = supersedes ? 0 : isInterrupt ? 1 : 3;
  const entry = enqueue(to, { kind: 'prompt', rank, from: senderOf(m, by), words: name });
  if (isInterrupt) return 'sent';
  const opensNext = before !== 'running' && nextWork(m, to) === entry;
  if (before === 'created' && opensNext) return 'started';
  if (before === 'running' || before === 'parked') return 'queued';
  const isHeld = !supersedes && (pending !== undefined || ordinary > 0);
  return isHeld || !opensNext ? 'queued' : 'sent';
}

/** A turn that asks is about the question that opened it, or that it was reminded of; one that an answer opened, about its cause (R14). */
function causeOf(m: Model, { entries, turns }: Session): string | null {
  const turn = turns.at(-1);
  const opening = turn?.outcome === null ? entries[turn.entry] : undefined;
  if (!opening?.question) return null;
  if (opening.kind === 'question' || opening.kind === 'reminder') return opening.question;
  const cause = opening.kind === 'answer' ? named(m.questions, opening.question).causedBy : null;
  return cause !== null && named(m.questions, cause).status === 'pending' ? cause : null;
}
