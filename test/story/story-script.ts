/**
 * The story that must survive everything: a parent delegates to an autopilot child; the child asks; the parent answers; the child
 * writes a file and completes; the parent hears of it and completes. Each step follows from the conversation that a request carries.
 */
import { type Script, scriptByAgent, type ScriptedRequest, type ScriptedResponse } from '@echelon/scripted-model';

export const FILE = 'greeting.txt';
export const GREETING = 'Herzlich willkommen!\n';
export const CHILD_RESULT = 'greeting.txt holds a German greeting.';
export const PARENT_RESULT = 'The greeting is there.';

export const CHILD_PROMPT = '[story:child] Write a greeting into greeting.txt. Ask your parent which language it should have.';

/** What the agents do, by what happened last; a spec replaces single steps. */
export interface StorySteps {
  delegate(request: ScriptedRequest): ScriptedResponse;
  answer(request: ScriptedRequest, reply: Reply): ScriptedResponse;
  ask(request: ScriptedRequest): ScriptedResponse;
  write(request: ScriptedRequest): ScriptedResponse;
}

/** The arguments that answer a question, as the question's text gives them. */
export interface Reply {
  readonly task_id: string;
  readonly session_id: string;
  readonly reply_to_question_id: string;
}

export const STEPS: StorySteps = {
  delegate: (request) => {
    const profileId = /profile_id ([0-9a-f-]{36})/.exec(request.messages[0]?.text ?? '')?.[1];
    const child = { parent_id: 'self', title: 'The greeting', prompt: CHILD_PROMPT, autopilot: true, profile_id: profileId };
    return call('create_task_kandev', child);
  },
  answer: (_request, reply) => call('message_task_kandev', { ...reply, prompt: 'German.' }),
  ask: () => call('ask_parent_question_kandev', { questions: [{ prompt: 'Which language?' }] }),
  write: () => call('write_file', { path: FILE, content: GREETING }),
};

/** Prompt of the parent; its child runs under the profile, so that its model requests are told apart. */
export function parentPrompt(childProfileId: string): string {
  return `[story:parent] Have a greeting written by a subtask with profile_id ${childProfileId}.`;
}

export function storyScript(replaced: Partial<StorySteps> = {}): Script {
  const steps = { ...STEPS, ...replaced };
  return scriptByAgent({
    '[story:parent]': (request) => parent(request, steps),
    '[story:child]': (request) => child(request, steps),
    '[story:bystander]': [{ text: 'Hello.' }],
  });
}

function parent(request: ScriptedRequest, steps: StorySteps): ScriptedResponse {
  if (lastResult(request)) return { text: 'I wait for my subtask.' };
  const text = lastText(request);
  if (text.includes('have ended')) return call('step_complete_kandev', { summary: PARENT_RESULT });
  if (text.includes('did not end well')) return { text: 'I leave it.' };
  const reply = replyIn(request);
  return reply ? steps.answer(request, reply) : steps.delegate(request);
}

function child(request: ScriptedRequest, steps: StorySteps): ScriptedResponse {
  const result = lastResult(request);
  if (result?.name === 'step_complete_kandev') return { text: 'Done.' };
  if (result?.name === 'read_file') return result.text.includes(GREETING.trim()) ? complete() : steps.write(request);
  if (result?.name === 'write_file') return /was (created|replaced)/.test(result.text) ? complete() : call('read_file', { path: FILE });
  return lastText(request).includes('has answered') ? steps.write(request) : steps.ask(request);
}

function complete(): ScriptedResponse {
  return call('step_complete_kandev', { summary: CHILD_RESULT });
}

function call(name: string, args: Readonly<Record<string, unknown>>): ScriptedResponse {
  return { toolCalls: [{ name, arguments: args }] };
}

function lastText({ messages }: ScriptedRequest): string {
  return messages.at(-1)?.text ?? '';
}

/** The last message where it is a tool's result, and whose. */
function lastResult({ messages }: ScriptedRequest): { readonly name: string; readonly text: string } | null {
  const last = messages.at(-1);
  if (last?.role !== 'tool') return null;
  const name = messages.findLast(({ toolCalls }) => toolCalls.length > 0)?.toolCalls.at(-1)?.name ?? '';
  return { name, text: last.toolResults.at(-1)?.text ?? '' };
}

/** The question that waits for the parent's answer: the last one in its conversation. */
function replyIn({ messages }: ScriptedRequest): Reply | null {
  const pattern = /\{"task_id":"([0-9a-f-]{36})","session_id":"([0-9a-f-]{36})","reply_to_question_id":"([0-9a-f-]{36})"/;
  const found = messages.map(({ text }) => pattern.exec(text)).findLast((match) => match !== null);
  const [, taskId, sessionId, questionId] = found ?? [];
  return taskId && sessionId && questionId ? { task_id: taskId, session_id: sessionId, reply_to_question_id: questionId } : null;
}
