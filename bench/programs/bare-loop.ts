/** What a loop costs at least: the same port and the same tool, and nothing that makes it one that could be trusted. */
import type { ModelClient, ModelMessage, ToolCall, ToolCallPart, ToolDefinition, ToolResultPart } from '@echelon/agent-loop';
import { OPENING, SYSTEM } from './read-line.js';

export async function runBareLoop(client: ModelClient, model: string, tool: ToolDefinition): Promise<void> {
  const messages: ModelMessage[] = [{ role: 'user', parts: [{ type: 'text', text: OPENING }] }];
  const { signal } = new AbortController();
  for (;;) {
    const calls: ToolCall[] = [];
    let text = '';
    for await (const event of client.stream({ model, system: SYSTEM, messages, tools: [] }, { signal })) {
      if (event.type === 'content') text += event.text;
      else if (event.type === 'tool_call') calls.push(event.call);
      else if (event.type === 'error') throw new Error(event.failure.message);
    }
    messages.push({ role: 'assistant', parts: calls.length > 0 ? calls.map(toPart) : [{ type: 'text', text }] });
    if (calls.length === 0) return;
    messages.push({ role: 'tool', parts: await Promise.all(calls.map((call) => execute(tool, call, signal))) });
  }
}

function toPart({ callId, name, arguments: raw }: ToolCall): ToolCallPart {
  return { type: 'tool_call', call_id: callId, name, arguments: raw };
}

async function execute(tool: ToolDefinition, { callId, name, arguments: raw }: ToolCall, signal: AbortSignal): Promise<ToolResultPart> {
  const { text, isError } = await tool.execute(tool.input.parse(JSON.parse(raw)), { callId, signal, context: undefined });
  return { type: 'tool_result', call_id: callId, name, text, is_error: isError };
}
