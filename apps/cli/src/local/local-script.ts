/** What the scripted model of a local surface plays to whatever it is told: it looks into the folder, and says that it is a script. */
import { type Script, scriptByPrompt, type ScriptedRequest, type ScriptedResponse } from '@echelon/scripted-model';

const EVERY_PROMPT = '';

export const localScript: Script = scriptByPrompt([
  {
    prompt: EVERY_PROMPT,
    steps: [{ text: 'SCRIPTED: I look into the folder.', toolCalls: [{ name: 'list_files', arguments: {} }] }, answer],
  },
]);

function answer({ messages }: ScriptedRequest): ScriptedResponse {
  const listed = messages.findLast(({ role }) => role === 'tool')?.toolResults.at(-1)?.text ?? '';
  return { text: `SCRIPTED: no model was asked. The folder holds:\n${listed}` };
}
