/**
 * What agents say whose question climbs a tree: each asks its parent for so many levels, the last one answers, and every agent on the
 * way hands the answer down to the child that asked it. A chain has a mark, and its answer says it.
 */
import type { ScriptedMessage, ScriptedRequest, ScriptedResponse } from '@echelon/scripted-model';

const CLIMB = /Climb (\d+) levels for ([\w-]+)\./;
const ANSWER = /Answer for ([\w-]+)\./;
const REPLY = /\{"task_id":"[\w-]+","session_id":"[\w-]+","reply_to_question_id":"[\w-]+"/;

/** The prompt that begins a chain. */
export function climbPrompt(levels: number, mark: string): string {
  return `Climb ${levels} levels for ${mark}.`;
}

/** What the agent that began a chain says at its end. */
export function endOfChain(mark: string): string {
  return `I have the answer for ${mark}.`;
}

/** The agent's next step; `null` where no chain speaks. */
export function climb(request: ScriptedRequest): ScriptedResponse | null {
  const last = request.messages.at(-1);
  if (last?.role !== 'user') return null;
  const answered = ANSWER.exec(last.text)?.[1];
  if (answered) return handDown(request.messages, answered);
  const [, levels, mark] = CLIMB.exec(last.text) ?? [];
  if (!levels || !mark) return null;
  return levels === '0' ? answer(last, mark) : ask(Number(levels) - 1, mark);
}

function ask(levels: number, mark: string): ScriptedResponse {
  return { toolCalls: [{ name: 'ask_parent_question_kandev', arguments: { questions: [{ prompt: climbPrompt(levels, mark) }] } }] };
}

function handDown(messages: readonly ScriptedMessage[], mark: string): ScriptedResponse {
  const question = messages.find(({ text }) => REPLY.test(text) && CLIMB.exec(text)?.[2] === mark);
  return question ? answer(question, mark) : { text: endOfChain(mark) };
}

function answer({ text }: ScriptedMessage, mark: string): ScriptedResponse {
  const address = JSON.parse(`${REPLY.exec(text)?.[0]}}`) as Readonly<Record<string, unknown>>;
  return { toolCalls: [{ name: 'message_task_kandev', arguments: { ...address, prompt: `Answer for ${mark}.` } }] };
}
