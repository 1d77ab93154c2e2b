/** A stored conversation as the items that would have shown it. */
import type { ModelMessage, ToolResultPart } from '@echelon/agent-loop';
import type { NewItem } from './chat-item.js';
import { toPlain } from './plain-text.js';
import { showCall } from './transcript.js';

/** In order; a call carries its result. The open batch of an interrupted turn has none yet. */
export function toHistoryItems(history: readonly ModelMessage[], folder: string): readonly NewItem[] {
  const results = new Map(history.flatMap((message) => (message.role === 'tool' ? message.parts.map((part) => [part.call_id, part]) : [])));
  return history.flatMap((message) => {
    switch (message.role) {
      case 'user':
        return [{ type: 'said', how: 'prompt', text: message.parts.map(({ text }) => text).join('\n') } as const];
      case 'assistant':
        return message.parts.flatMap((part) => toItem(part, results, folder));
      case 'tool':
        return [];
    }
  });
}

type AssistantPart = Extract<ModelMessage, { role: 'assistant' }>['parts'][number];

function toItem(part: AssistantPart, results: ReadonlyMap<string, ToolResultPart>, folder: string): readonly NewItem[] {
  if (part.type !== 'tool_call') return part.text.trim() === '' ? [] : [{ type: part.type, text: toPlain(part.text).trim() }];
  const call = showCall({ callId: part.call_id, name: part.name, arguments: part.arguments }, folder);
  const result = results.get(part.call_id);
  if (result === undefined) return [{ type: 'call', call: { ...call, state: 'unknown' } }];
  return [{ type: 'call', call: { ...call, state: result.is_error ? 'failed' : 'succeeded', output: toPlain(result.text) } }];
}
