import type { ToolDefinition } from '@echelon/agent-loop';
import { AskQuestions } from '@echelon/contracts';
import { isRefusal } from '@echelon/domain';
import { keyOfCall } from './call-key.js';
import { findTurnId } from './current-turn.js';
import { agentOf, type ToolContext } from './tool-context.js';
import { refused, succeed } from './tool-result.js';
import type { ToolServices } from './tool-services.js';

const NAME = 'ask_parent_question_kandev';
const END_YOUR_TURN = 'End your turn now, without further tool calls. The answer of your parent opens your next turn.';

/** `ask_parent_question_kandev`: the last action of an autopilot child's turn (autopilot-contract.md §4). */
export function askParentQuestionTool(services: ToolServices): ToolDefinition<typeof AskQuestions, ToolContext> {
  return {
    name: NAME,
    title: 'Ask parent',
    description:
      'Asks the agent of your parent task 1 to 4 questions at once and ends your turn. Use it only when a wrong assumption would materially change your result and ' +
      'you cannot find the answer yourself; otherwise proceed on a safe, reversible assumption. Your parent sees nothing of your conversation: say in context what it ' +
      'must know, and offer options where you see them. Make it the last action of your turn, alone in its response. Returns at once with ' +
      'status waiting_for_parent, without an answer: end your turn then, and the answer opens your next one. While a question is open, asking again returns that question.',
    input: AskQuestions,
    effect: 'write',
    concurrencySafe: false,
    idempotent: true,
    endsTurn: true,
    execute: async (input, execution) => {
      const actor = agentOf(execution);
      if (isRefusal(actor)) return refused(actor);
      const turn = await findTurnId(services, actor);
      if (isRefusal(turn)) return refused(turn);
      const asked = await services.questions.askParent(actor, input, keyOfCall({ actor, turnId: turn.id, tool: NAME, input }));
      if (isRefusal(asked)) return refused(asked);
      return { ...succeed({ ...asked, instruction: END_YOUR_TURN }), endsTurn: true };
    },
  };
}
