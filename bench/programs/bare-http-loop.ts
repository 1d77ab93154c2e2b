/** The bare loop over HTTP: messages stay as the wire wants them, and the whole history is serialised for every request. */
import type { ToolDefinition } from '@echelon/agent-loop';
import { z } from 'zod';
import { complete } from './bare-completion.js';
import { OPENING, SYSTEM } from './read-line.js';

/** `keep` is awaited with the messages of every round, once its calls are answered, and with those of the opening and the end. */
export async function runBareHttpLoop(
  url: string,
  model: string,
  tool: ToolDefinition,
  keep?: (messages: readonly object[]) => Promise<unknown>,
): Promise<void> {
  const tools = [
    { type: 'function', function: { name: tool.name, description: tool.description, parameters: z.toJSONSchema(tool.input) } },
  ];
  const { signal } = new AbortController();
  const messages: object[] = [
    { role: 'system', content: SYSTEM },
    { role: 'user', content: OPENING },
  ];
  await keep?.(messages);
  for (;;) {
    const { text, calls } = await complete(url, { model, messages, tools });
    const kept = messages.length;
    messages.push({ role: 'assistant', content: text, ...(calls.length > 0 ? { tool_calls: calls } : {}) });
    for (const call of calls) {
      const input = tool.input.parse(JSON.parse(call.function.arguments));
      const result = await tool.execute(input, { callId: call.id, signal, context: undefined });
      messages.push({ role: 'tool', tool_call_id: call.id, content: result.text });
    }
    await keep?.(messages.slice(kept));
    if (calls.length === 0) return;
  }
}
