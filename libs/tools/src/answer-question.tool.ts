import type { ToolDefinition } from '@echelon/agent-loop';
import { AnswerUserQuestion } from '@echelon/contracts';
import { refuse } from '@echelon/domain';
import { z } from 'zod';
import { exactId } from './tool-arguments.js';
import { callerOf, type ToolContext } from './tool-context.js';
import { refused, toResult } from './tool-result.js';
import type { ToolServices } from './tool-services.js';

const { answers, rejected, reject_reason } = AnswerUserQuestion.shape;
const AnswerQuestionInput = z.strictObject({
  question_id: exactId('Id of the pending question.'),
  answers: answers.describe('By the id of each single question: the label of an option, or an answer in your own words.'),
  rejected: rejected.describe('true: the agent gets no answer, and reject_reason says why.'),
  reject_reason: reject_reason.describe('Why it was rejected.'),
});

/** `answer_question_kandev`: an operator's answer; the first one wins, and a later caller reads it (V4). */
export function answerQuestionTool(services: ToolServices): ToolDefinition<typeof AnswerQuestionInput, ToolContext> {
  return {
    name: 'answer_question_kandev',
    title: 'Answer question',
    description:
      'Answers a question that waits for an operator, or rejects it; the agent goes on with the answer. Give answers, or rejected with reject_reason. Returns the question with ' +
      'its answers and claimed: false means that somebody else had decided before, and these are their answers.',
    input: AnswerQuestionInput,
    effect: 'write',
    concurrencySafe: false,
    idempotent: true,
    execute: async ({ question_id: id, ...answer }, execution) => {
      const actor = callerOf(execution);
      return actor.kind === 'operator' ? toResult(await services.questions.answerUser(actor, id, answer)) : refused(refuse('FORBIDDEN'));
    },
  };
}
