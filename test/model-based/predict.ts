/** What each command answers and changes, according to the contract. */
import type { Predictions } from './authority.js';
import type { NamedCommand } from './commands.js';
import type { Model } from './model.js';
import { QUESTIONS } from './predict-questions.js';
import { QUEUES } from './predict-queues.js';
import { STRUCTURE } from './predict-structure.js';
import { TASKS } from './predict-tasks.js';
import { WORK } from './predict-work.js';

const PREDICTIONS: Predictions = { ...TASKS, ...QUESTIONS, ...WORK, ...STRUCTURE, ...QUEUES };

/** Changes the model as the command does; returns the outcome, in one word. */
export function predict(m: Model, command: NamedCommand): string {
  return (PREDICTIONS[command.do] as (m: Model, command: NamedCommand) => string)(m, command);
}
