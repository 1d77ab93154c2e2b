/**
 * The demo's four agents as a script: what a model might do, played without one. Each step follows from the conversation that
 * the request carries, so a restart or a retry gets the same answer. With a real model only the prompts are used.
 */
import { type Script, scriptByAgent, type ScriptedRequest, type ScriptedResponse } from '@echelon/scripted-model';
import { BUILDER, LEAD, LEAF } from './demo-prompts.js';

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
