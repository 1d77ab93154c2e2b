/** What of a request is the surface's own (prompt, tools, ids that are made up, folders) is taken out; the rest must be equal. */
import type { RecordedRequest } from '@echelon/scripted-model';
import { countBefore, isFallback } from './parity-model.js';

interface WireMessage {
  readonly role: string;
  readonly content?: unknown;
  readonly tool_calls?: readonly { readonly id: string; readonly function: { readonly name: string; readonly arguments: string } }[];
  readonly tool_call_id?: string;
}

/** The messages of each request without the system prompt, with ids in the order of their appearance. */
export function normalizeRequests(requests: readonly RecordedRequest[], folder: string): readonly unknown[] {
  return requests.map(({ body }) => {
    const { messages, model } = body as { readonly messages: readonly WireMessage[]; readonly model: string };
    const ids = new Map<string, string>();
    const nameId = (id: string): string => {
      const known = ids.get(id) ?? `call-${ids.size + 1}`;
      ids.set(id, known);
      return known;
    };
    const own = messages.filter(({ role }) => role !== 'system').slice(countBefore(model));
    const shown = own.map((message) => normalizeMessage(message, nameId));
    return { fallback: isFallback(model), messages: JSON.parse(hideFolder(JSON.stringify(shown), folder)) as unknown };
  });
}

function normalizeMessage({ role, content, tool_calls: calls, tool_call_id: id }: WireMessage, nameId: (id: string) => string): object {
  return {
    role,
    content: normalizeText(typeof content === 'string' ? content : JSON.stringify(content ?? '')),
    ...(calls === undefined
      ? {}
      : { calls: calls.map((call) => ({ id: nameId(call.id), name: call.function.name, arguments: call.function.arguments })) }),
    ...(id === undefined ? {} : { answers: nameId(id) }),
  };
}

/** Durations and artifact names differ from run to run. */
function normalizeText(text: string): string {
  return text.replaceAll(/ Full output: [^\]]+\]/g, ']').replace(/\b\d+(\.\d+)? ?ms\b/g, '… ms');
}

function hideFolder(text: string, folder: string): string {
  return text.replaceAll(folder, '<folder>');
}
