/** A stored conversation as the updates that would have shown it (`session/load`). */
import type { ModelMessage, ToolResultPart } from '@echelon/agent-loop';
import type { SessionUpdate } from '@agentclientprotocol/sdk/unstable';
import { textContent, viewCall } from './call-view.js';

/** In order; a call carries its result, and one without a result failed. */
export function toHistoryUpdates(history: readonly ModelMessage[], folder: string): readonly SessionUpdate[] {
  const results = new Map(history.flatMap((message) => (message.role === 'tool' ? message.parts.map((part) => [part.call_id, part]) : [])));
  return history.flatMap((message, at) => toUpdates(message, `history-${at}`, { results, folder }));
}

interface Known {
  readonly results: ReadonlyMap<string, ToolResultPart>;
  readonly folder: string;
}

function toUpdates(message: ModelMessage, messageId: string, { results, folder }: Known): readonly SessionUpdate[] {
  if (message.role === 'tool') return [];
  return message.parts.map((part): SessionUpdate => {
    if (part.type === 'tool_call') return toCall(part.call_id, viewCall(part.name, part.arguments, folder), results.get(part.call_id));
    const spoken = message.role === 'user' ? 'user_message_chunk' : part.type === 'thought' ? 'agent_thought_chunk' : 'agent_message_chunk';
    return { sessionUpdate: spoken, messageId: `${messageId}-${part.type}`, content: { type: 'text', text: part.text } };
  });
}

function toCall(toolCallId: string, view: ReturnType<typeof viewCall>, result: ToolResultPart | undefined): SessionUpdate {
  return {
    sessionUpdate: 'tool_call',
    toolCallId,
    ...view,
    status: result === undefined || result.is_error ? 'failed' : 'completed',
    content: [textContent(result?.text ?? 'Interrupted: no result of this call was stored.')],
  };
}
