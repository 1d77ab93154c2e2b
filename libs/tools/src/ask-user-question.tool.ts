/**
 * `ask_user_question_kandev`: a normal task's question to its operator (V4). It blocks the call, never a worker.
 *
 * U1  The question is found again under its key, whatever its state: running the call once more, after a crash or after the
 *     answer, asks nothing twice and returns the answer as soon as there is one.
 * U2  In the loop a pending question parks the turn. Over MCP the call returns `pending`: an agent whose turn we run ends it, and hears
 *     of the answer with its next one; any other repeats the call, under another call id then and maybe in another turn, so that there
 *     the key is what it asks.
 */
import type { ToolDefinition, ToolExecution, ToolResult } from '@echelon/agent-loop';
import { AskQuestions, Id, type UserQuestion } from '@echelon/contracts';
import { isRefusal } from '@echelon/domain';
import type { AgentActor } from '@echelon/orchestration';
import { z } from 'zod';
import { keyOfCall, keyOfContent } from './call-key.js';
import { agentOf, type ToolContext } from './tool-context.js';
import { refused, succeed } from './tool-result.js';
import type { ToolServices } from './tool-services.js';

const NAME = 'ask_user_question_kandev';
const ASK_AGAIN = 'Nobody has answered yet. Do not invent an answer: call this tool again later with exactly the same arguments to get it.';
const END_YOUR_TURN = 'Nobody has answered yet. End your turn now, without further tool calls: the answer opens your next turn.';
const NOBODY_ANSWERS =
  'Nobody will answer this. Decide by your best judgment and state the assumption in your result; do not ask it again.';

const QuestionResult = z.object({
  answered: z.boolean(),
  rejected: z.boolean(),
  option: z.string().optional().describe('Label of the option that was chosen.'),
  text: z.string().optional().describe('Answer in other words than an option.'),
});

const AskUserQuestionResult = z.object({
  question_id: Id,
  status: z.enum(['pending', 'answered', 'rejected', 'expired', 'cancelled']),
  questions: z.record(z.string(), QuestionResult).optional().describe('By question id; absent while pending.'),
  reject_reason: z.string().optional(),
  instruction: z.string().optional(),
});
type AskUserQuestionResult = z.infer<typeof AskUserQuestionResult>;

interface AskUserQuestionTool extends ToolDefinition<typeof AskQuestions, ToolContext> {
  /** Shape of the result, for clients that want it declared. */
  readonly output: typeof AskUserQuestionResult;
}

export function askUserQuestionTool(services: ToolServices): AskUserQuestionTool {
  return {
    name: NAME,
    title: 'Ask operator',
    description:
      'Asks the person who runs this task 1 to 4 questions at once. Use it for decisions that only a person can make; find out by yourself what you can. Say in context ' +
      'what the person must know, and offer options where you see them. Returns status and, by question id, whether it was answered or rejected, with the chosen option or ' +
      'the text of the answer. status pending means that nobody has answered yet: the same call with the same arguments returns the answer later.',
    input: AskQuestions,
    output: AskUserQuestionResult,
    effect: 'write',
    concurrencySafe: false,
    idempotent: true,
    polling: true,
    execute: async (input, execution) => {
      const actor = agentOf(execution);
      if (isRefusal(actor)) return refused(actor);
      const question = await services.questions.askUser(actor, input, keyOf(actor, input, execution));
      return isRefusal(question) ? refused(question) : present(question, execution);
    },
  };
}

function keyOf(actor: AgentActor, input: AskQuestions, { context }: ToolExecution<ToolContext>): string {
  if (context.surface === 'loop') return keyOfCall({ actor, turnId: actor.turnId, tool: NAME, input });
  return keyOfContent({ actor, turnId: null, tool: NAME, input });
}

function present(question: UserQuestion, { context }: ToolExecution<ToolContext>): ToolResult {
  if (question.status !== 'pending') return succeed(toAnswers(question));
  const ours = context.actor.kind === 'agent' && context.actor.turnId !== null;
  const pending: AskUserQuestionResult = { question_id: question.id, status: 'pending', instruction: ours ? END_YOUR_TURN : ASK_AGAIN };
  return context.surface === 'loop' ? { ...succeed(pending), parkedFor: question.id } : succeed(pending);
}

function toAnswers(question: UserQuestion): AskUserQuestionResult {
  return {
    question_id: question.id,
    status: question.status,
    questions: Object.fromEntries(question.questions.map((asked) => [asked.id, toAnswer(question, asked)])),
    ...(question.reject_reason === null ? {} : { reject_reason: question.reject_reason }),
    ...(question.status === 'expired' || question.status === 'cancelled' ? { instruction: NOBODY_ANSWERS } : {}),
  };
}

function toAnswer({ status, answers }: UserQuestion, { id, options }: UserQuestion['questions'][number]): z.infer<typeof QuestionResult> {
  const answer = answers?.[id];
  if (answer === undefined) return { answered: false, rejected: status === 'rejected' };
  const chosen = options?.some(({ label }) => label === answer) ?? false;
  return { answered: true, rejected: false, ...(chosen ? { option: answer } : { text: answer }) };
}
