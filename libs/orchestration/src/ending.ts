/**
 * Everything that ends, in one place: turns, questions, sessions, tasks. A caller takes the locks first (`lockFamilies`,
 * `lockForSettlement`, `lockForRest`, `lockQuestion`) and then uses the endings in one transaction.
 */
export { alertParent, type BadEnd } from './ending/alert.js';
export { closeTurn } from './ending/close-turn.js';
export { endQuestion, expireQuestion, withdrawQuestionEntries } from './ending/end-question.js';
export { enterStep, type MoveCause } from './ending/enter-step.js';
export { endSession, endSessionsOf, type SessionEndCause, type SessionEndState } from './ending/end-session.js';
export { type Family, lockFamilies, lockForRest, lockForSettlement, lockQuestion } from './ending/lock.js';
export { followDependencies, haltDependents, leaveParent, moveTask } from './ending/move-task.js';
export { reachOf } from './ending/receivers.js';
export { tearDownTurn } from './ending/tear-down.js';
