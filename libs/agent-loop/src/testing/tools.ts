import { z } from 'zod';
import type { ToolDefinition, ToolResult } from '../tool-port.js';

export interface TestContext {
  /** Ids of calls in the order in which they started. */
  readonly started: string[];
  readonly finished: string[];
}

type Tool = ToolDefinition<z.ZodType, TestContext>;

/** A tool that says its name and the value it was called with; any trait may be replaced. */
export function tool(name: string, traits: Partial<Tool> = {}): Tool {
  return {
    name,
    title: name,
    description: name,
    input: z.strictObject({ value: z.string().max(20).optional() }),
    effect: 'read',
    concurrencySafe: true,
    idempotent: false,
    ...traits,
    execute: async (input, execution) => {
      execution.context.started.push(execution.callId);
      const result = await (traits.execute?.(input, execution) ?? said(`${name}:${JSON.stringify(input)}`));
      execution.context.finished.push(execution.callId);
      return result;
    },
  };
}

export const said = (text: string): ToolResult => ({ text, isError: false });

export const read = tool('read');
export const write = tool('write', { effect: 'write', concurrencySafe: false });
export const ask = tool('ask', { effect: 'write', concurrencySafe: false, idempotent: true, endsTurn: true, execute: asks });
export const question = tool('question', { effect: 'write', concurrencySafe: false, idempotent: true, execute: waits });

function asks(): Promise<ToolResult> {
  return Promise.resolve({ text: 'asked', isError: false, endsTurn: true });
}

function waits(): Promise<ToolResult> {
  return Promise.resolve({ text: '', isError: false, parkedFor: 'user_answer' });
}
