import type { ToolDefinition } from '@echelon/agent-loop';
import { z } from 'zod';
import { exactId, pageArguments } from './tool-arguments.js';
import { callerOf, type ToolContext } from './tool-context.js';
import { toResult } from './tool-result.js';
import type { ToolServices } from './tool-services.js';

const ListPendingQuestionsInput = z.strictObject({ task_id: exactId('Only questions of this task.').optional(), ...pageArguments(200) });

/** `list_pending_questions_kandev`: what waits for an operator; questions to a parent are not among them (V3). */
export function listPendingQuestionsTool(services: ToolServices): ToolDefinition<typeof ListPendingQuestionsInput, ToolContext> {
  return {
    name: 'list_pending_questions_kandev',
    title: 'List pending questions',
    description:
      'Lists the questions of agents that wait for an operator, each with id, task_id, questions, options and context. Questions that a task asks its parent are not among them: ' +
      'only that parent answers. Returns { items, next_cursor }.',
    input: ListPendingQuestionsInput,
    effect: 'read',
    concurrencySafe: true,
    idempotent: true,
    polling: true,
    execute: async (input, execution) =>
      toResult(await services.questions.list(callerOf(execution), { ...input, kind: 'user', status: 'pending' })),
  };
}
