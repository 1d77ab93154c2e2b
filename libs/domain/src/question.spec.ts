import { describe, expect, test } from '@jest/globals';
import { type AnswerFacts, type AskFacts, decideAnswer, decideAsk, needsNotice, refuse } from '@echelon/domain';

const ASK: AskFacts = {
  autopilot: true,
  sessionKind: 'task',
  parentTaskId: 'parent',
  sameKeyQuestionId: null,
  pendingQuestionId: null,
  parent: { kind: 'session', sessionId: 'parent-session' },
};
const QUESTION = { status: 'pending', taskId: 'child', sessionId: 'child-session', parentTaskId: 'parent', answerEntryId: null } as const;
const ANSWER: AnswerFacts = {
  question: QUESTION,
  currentParentId: 'parent',
  callerTaskId: 'parent',
  targetTaskId: 'child',
  targetSessionId: null,
};

describe('asking', () => {
  test.each<[string, Partial<AskFacts>, object]>([
    ['a child asks its reachable parent [A1]', {}, { ask: 'new', parentTaskId: 'parent', parentSessionId: 'parent-session' }],
    [
      'the same key finds the first question, whatever changed since [A2]',
      { sameKeyQuestionId: 'q', autopilot: false, parentTaskId: null },
      { ask: 'existing', questionId: 'q' },
    ],
    ['a second ask finds the pending question [A3]', { pendingQuestionId: 'q' }, { ask: 'existing', questionId: 'q' }],
    ['a normal task is refused [A5]', { autopilot: false }, refuse('NOT_AUTOPILOT')],
    ['a root is refused [A5]', { parentTaskId: null }, refuse('NO_PARENT')],
    ['another kind of session is refused [A5]', { sessionKind: 'config' }, refuse('WRONG_SESSION_KIND', { kind: 'config' })],
    ['a parent that nobody can reach is unavailable [A12]', { parent: { kind: 'none' } }, refuse('PARENT_UNAVAILABLE')],
  ])('%s', (_fact, change, expected) => {
    expect(decideAsk({ ...ASK, ...change })).toEqual(expected);
  });
});

describe('answering', () => {
  test.each<[string, Partial<AnswerFacts>, object]>([
    ['the recorded and still direct parent is accepted [R1]', {}, { answer: 'accept', sessionId: 'child-session' }],
    ['an unknown question is refused [R5]', { question: null }, refuse('QUESTION_UNKNOWN')],
    ['a stranger is refused [R4]', { callerTaskId: 'sibling' }, refuse('QUESTION_NOT_YOURS')],
    ['an operator is refused [R4, V3]', { callerTaskId: null }, refuse('QUESTION_NOT_YOURS')],
    ['the child itself is refused [R4]', { callerTaskId: 'child' }, refuse('QUESTION_NOT_YOURS')],
    ['another task is refused [R6]', { targetTaskId: 'other' }, refuse('QUESTION_TARGET_MISMATCH', { field: 'task_id' })],
    ['another session is refused [R6]', { targetSessionId: 'other' }, refuse('QUESTION_TARGET_MISMATCH', { field: 'session_id' })],
    ['the old parent is refused after reparenting [R8]', { currentParentId: 'new' }, refuse('QUESTION_NOT_YOURS')],
    ['the new parent is refused after reparenting [R8]', { currentParentId: 'new', callerTaskId: 'new' }, refuse('QUESTION_NOT_YOURS')],
    [
      'a second answer finds the first delivery [R2]',
      { question: { ...QUESTION, status: 'answered', answerEntryId: 'e' } },
      { answer: 'already_answered', sessionId: 'child-session', entryId: 'e' },
    ],
    [
      'a superseded question is refused with its state [R7]',
      { question: { ...QUESTION, status: 'superseded' } },
      refuse('QUESTION_NOT_PENDING', { status: 'superseded' }),
    ],
    [
      'a stale question is refused with its state [R7]',
      { question: { ...QUESTION, status: 'stale' } },
      refuse('QUESTION_NOT_PENDING', { status: 'stale' }),
    ],
  ])('%s', (_fact, change, expected) => {
    expect(decideAnswer({ ...ANSWER, ...change })).toEqual(expected);
  });
});

test.each([
  ['parent_ended', true],
  ['parent_archived', true],
  ['parent_deleted', true],
  ['parent_changed', true],
  ['timeout', true],
  ['session_ended', false],
  ['task_ended', false],
  ['operator_prompt', false],
  ['lead', false],
] as const)('a child that lives on after %s is told: %s [K9]', (cause, told) => {
  expect(needsNotice(cause)).toBe(told);
});
