/**
 * The demo's four agents as a script: what a model might do, played without one. Each step follows from the conversation that
 * the request carries, so a restart or a retry gets the same answer. With a real model only the prompts below are used.
 */
import { type Script, scriptByAgent, type ScriptedRequest, type ScriptedResponse } from '@echelon/scripted-model';

export const DEMO_MODEL = 'scripted-demo';

const LEAF = `[demo:writer] Write the greeting of a small welcome page into the file greeting.txt of your task folder: one friendly sentence. The language of the greeting matters and is not yours to guess: ask your parent with ask_parent_question_kandev which language it should be. When you know, write the file, then finish with step_complete_kandev.`;

const BUILDER = `[demo:builder] Build a small welcome page. Delegate the writing to one subtask with create_task_kandev (parent_id "self", autopilot true), with exactly this prompt:

${LEAF}

You do not know the language of the greeting: when your subtask asks, relay the question to your own parent with ask_parent_question_kandev, and pass its answer on with message_task_kandev. When your subtask has ended, finish with step_complete_kandev.`;

const LEAD = `[demo:lead] You are responsible for a small welcome page in German. Delegate the building to one subtask with create_task_kandev (parent_id "self", autopilot true), with exactly this prompt:

${BUILDER}

When your subtask asks for the language, answer it with message_task_kandev. When it has ended, finish with step_complete_kandev.`;

/** Prompt of the root task, for a scripted and for a real model alike. */
export const DEMO_PROMPT = `[demo:root] See to it that a small welcome page is made. Delegate it to one subtask with create_task_kandev (parent_id "self", autopilot true), with exactly this prompt:

${LEAD}

When your subtask has ended, finish with step_complete_kandev.`;

/** The script of all four agents. */
export const demoScript: Script = scriptByAgent({
  '[demo:root]': (request) => delegate(request, { title: 'Welcome page: lead', prompt: LEAD }),
  '[demo:lead]': (request) => answerFromKnowledge(request) ?? delegate(request, { title: 'Welcome page: build', prompt: BUILDER }),
  '[demo:builder]': (request) => relay(request) ?? delegate(request, { title: 'Welcome page: write', prompt: LEAF }),
  '[demo:writer]': write,
});

function delegate(request: ScriptedRequest, child: { readonly title: string; readonly prompt: string }): ScriptedResponse {
  if (justCalled(request)) return { text: 'I wait for my subtask.' };
  if (request.messages.length > 1 && lastText(request).includes('have ended')) return complete('The welcome page is there.');
  if (request.messages.length > 1) return { text: 'I wait for my subtask.' };
  return { thought: 'One subtask is enough.', toolCalls: [call('create_task_kandev', { parent_id: 'self', autopilot: true, ...child })] };
}

function answerFromKnowledge(request: ScriptedRequest): ScriptedResponse | null {
  const question = questionIn(lastText(request));
  return question && !justCalled(request) ? { toolCalls: [call('message_task_kandev', { ...question, prompt: 'German.' })] } : null;
}

function relay(request: ScriptedRequest): ScriptedResponse | null {
  if (justCalled(request)) return null;
  const text = lastText(request);
  if (questionIn(text)) {
    return {
      thought: 'I do not know the language.',
      toolCalls: [call('ask_parent_question_kandev', { questions: [{ prompt: 'Which language should the greeting have?' }] })],
    };
  }
  if (!text.includes('has answered')) return null;
  const asked = request.messages.map((message) => questionIn(message.text)).findLast((question) => question !== null);
  return asked ? { toolCalls: [call('message_task_kandev', { ...asked, prompt: 'German, says my own parent.' })] } : null;
}

function write(request: ScriptedRequest): ScriptedResponse {
  const called = lastCalled(request);
  if (called === 'write_file') return complete('greeting.txt holds a German greeting.');
  if (called) return { text: 'Done.' };
  if (lastText(request).includes('has answered')) {
    return {
      text: 'German it is.',
      toolCalls: [call('write_file', { path: 'greeting.txt', content: 'Herzlich willkommen! Schön, dass du da bist.\n' })],
    };
  }
  const options = [
    { label: 'English', description: 'The language of the code.' },
    { label: 'German', description: 'The language of the office.' },
  ];
  return {
    toolCalls: [
      call('ask_parent_question_kandev', {
        questions: [{ title: 'Language', prompt: 'Which language should the greeting have?', options }],
      }),
    ],
  };
}

function complete(summary: string): ScriptedResponse {
  return { toolCalls: [call('step_complete_kandev', { summary })] };
}

function call(name: string, args: Readonly<Record<string, unknown>>) {
  return { name, arguments: args };
}

function lastText(request: ScriptedRequest): string {
  return request.messages.at(-1)?.text ?? '';
}

function justCalled(request: ScriptedRequest): boolean {
  return lastCalled(request) !== null;
}

/** The tool whose result came last, if a result came last. */
function lastCalled(request: ScriptedRequest): string | null {
  const last = request.messages.at(-1);
  if (last?.role !== 'tool') return null;
  return request.messages.findLast((message) => message.toolCalls.length > 0)?.toolCalls.at(-1)?.name ?? null;
}

/** The arguments that answer the question of an entry, as its text gives them. */
function questionIn(text: string): { readonly task_id: string; readonly session_id: string; readonly reply_to_question_id: string } | null {
  const found = /\{"task_id":"([0-9a-f-]{36})","session_id":"([0-9a-f-]{36})","reply_to_question_id":"([0-9a-f-]{36})"/.exec(text);
  const [, taskId, sessionId, questionId] = found ?? [];
  return taskId && sessionId && questionId ? { task_id: taskId, session_id: sessionId, reply_to_question_id: questionId } : null;
}
