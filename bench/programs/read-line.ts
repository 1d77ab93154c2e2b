/** The one tool of the loop measurement, and what both loops are told: a call per round, results of 1 KB. */
import type { ToolDefinition } from '@echelon/agent-loop';
import { z } from 'zod';

export const SYSTEM = 'You read a text line by line.';
export const OPENING = 'Read all lines.';

const LINE = 'The quick brown fox jumps over the lazy dog, again. '.repeat(20).slice(0, 1_000);
const Input = z.strictObject({ number: z.int() });

/** Makes the tool; `onCall` hears the number of every line that is read, from 1. With the effect `execute`, every call is an intent first. */
export function createReadLine(onCall: (number: number) => unknown, effect: 'read' | 'execute' = 'read'): ToolDefinition<typeof Input> {
  return {
    name: 'read_line',
    title: 'Read a line',
    description: 'Reads one line of the text.',
    input: Input,
    effect,
    concurrencySafe: effect === 'read',
    idempotent: true,
    execute: async ({ number }) => {
      await onCall(number);
      return { text: `${number}: ${LINE}`, isError: false };
    },
  };
}

/** The arguments of the call that a model makes in round `number`. */
export function lineArguments(number: number): string {
  return JSON.stringify({ number });
}
