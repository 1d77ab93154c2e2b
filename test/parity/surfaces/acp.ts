/** `echelon acp` as a process of its own, driven by the official client. */
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import type { LoopStop } from '@echelon/agent-loop';
import { toPromptEnd } from '../../../apps/cli/src/acp/prompt-end.js';
import { choose, Editor } from '../../../apps/cli/src/acp/testing/editor.js';
import { CLI_COMMAND } from '../../support/headless.js';
import type { Run, Surface, Told } from '../scenario.js';
import type { Stage } from './index.js';
import { writeSettings } from './local-settings.js';

export function createAcpSurface(stage: Stage): Promise<Surface> {
  return Promise.resolve({ name: 'acp', stopsAs, says, run: (run) => play(stage, run), close: () => Promise.resolve() });
}

/** An answer to the prompt, or an error that names why the loop stopped. */
function stopsAs(stop: LoopStop): string {
  const end = toPromptEnd(stop);
  return 'stopReason' in end ? end.stopReason : `error: ${stop.reason}`;
}

/** Where an answer would leave the person without the reason. */
function says(stop: LoopStop): string | null {
  const end = toPromptEnd(stop);
  return 'say' in end ? (end.say ?? null) : null;
}

async function play(stage: Stage, run: Run): Promise<Told> {
  const { scenario, folder, model, due } = run;
  const command = [
    process.execPath,
    ...CLI_COMMAND,
    'acp',
    '--provider',
    'compatible',
    '--model',
    model,
    '--settings',
    writeSettings(stage.data, run),
  ];
  const env = { ...process.env, ECHELON_DATA_DIR: path.join(stage.data, 'data'), ECHELON_MODEL_BASE_URL: stage.modelUrl };
  const editor = await Editor.start(command, env, {});
  editor.answer = ({ toolCall }) => {
    const answer = scenario.answers?.[toolCall.kind === 'execute' ? 'run_command' : 'write_file'] ?? 'allow';
    return choose(answer === 'deny' ? 'reject_once' : answer === 'always' ? 'allow_always' : 'allow_once');
  };
  try {
    const session = await editor.newSession(folder);
    if (scenario.cancel) void due(scenario.cancel).then(() => editor.cancel(session));
    if (scenario.input) void sayMeanwhile(editor, session, run);
    const told = { stops: [] as string[], texts: [] as string[] };
    for (const prompt of scenario.prompts ?? ['Go.']) {
      const from = editor.seen.length;
      told.stops.push(await stopOf(editor.prompt(session, prompt)));
      told.texts.push(lastText(editor.seen.slice(from)));
    }
    return told;
  } finally {
    await editor.kill();
  }
}

/** A prompt joins the one that runs; the answer to a request that stands behind it tells that it was taken. */
async function sayMeanwhile(editor: Editor, session: string, { scenario, folder, due }: Run): Promise<void> {
  if (!scenario.input) return;
  await due(scenario.input);
  void editor.prompt(session, scenario.input.text);
  await editor.setMode(session, 'full_access');
  writeFileSync(path.join(folder, 'said'), '');
}

async function stopOf(prompt: ReturnType<Editor['prompt']>): Promise<string> {
  try {
    return (await prompt).stopReason;
  } catch (error) {
    const { data } = error as { readonly data?: { readonly stop_reason?: string } };
    if (data?.stop_reason === undefined) throw error;
    return `error: ${data.stop_reason}`;
  }
}

/** The last message: what an abandoned attempt said is a message of its own. */
function lastText(seen: Editor['seen']): string {
  let [text, message] = ['', ''];
  for (const one of seen) {
    if (!('update' in one)) continue;
    const { update } = one;
    if (update.sessionUpdate === 'tool_call' || update.sessionUpdate === 'tool_call_update') text = '';
    if (update.sessionUpdate !== 'agent_message_chunk' || update.content.type !== 'text') continue;
    if (update.messageId !== message) [text, message] = ['', update.messageId ?? ''];
    text += update.content.text;
  }
  return text;
}
