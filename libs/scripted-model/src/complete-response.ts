/** Fills in what a script left out, from the request alone (S1). */
import { createHash } from 'node:crypto';
import { splitArguments, type CompleteResponse } from './dialect.js';
import type { ScriptedResponse, ScriptedUsage } from './script.js';

const CHARACTERS_PER_TOKEN = 4;

/** `rawBody` is the request as received: equal bodies get equal ids, other bodies get other ids. */
export function completeResponse(response: ScriptedResponse, model: string, rawBody: string): CompleteResponse {
  const id = createHash('sha256').update(rawBody).digest('hex').slice(0, 16);
  const toolCalls = (response.toolCalls ?? []).map((call, number) => {
    const { text, pieces } = splitArguments(call);
    return { id: call.id ?? `call_${id}_${number}`, name: call.name, arguments: text, pieces };
  });
  return {
    id,
    model: labelled(model),
    thought: toPieces(response.thought),
    thoughtSignature: response.thoughtSignature ?? 'scripted-signature',
    text: toPieces(response.text),
    toolCalls,
    finish: response.finish ?? (toolCalls.length > 0 ? 'tool_calls' : 'stop'),
    usage: response.usage === undefined ? estimateUsage(response, rawBody) : response.usage,
  };
}

/** A reader must see that no model answered. */
function labelled(model: string): string {
  return model.startsWith('scripted') ? model : `scripted:${model}`;
}

function toPieces(text: string | readonly string[] | undefined): readonly string[] {
  if (text === undefined) return [];
  return typeof text === 'string' ? [text] : text;
}

function estimateUsage(response: ScriptedResponse, rawBody: string): ScriptedUsage {
  const said = [...toPieces(response.thought), ...toPieces(response.text), JSON.stringify(response.toolCalls ?? '')];
  return { inputTokens: toTokens(rawBody.length), outputTokens: toTokens(said.join('').length) };
}

function toTokens(characters: number): number {
  return Math.ceil(characters / CHARACTERS_PER_TOKEN);
}
