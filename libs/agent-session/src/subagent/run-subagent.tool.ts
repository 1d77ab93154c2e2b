import type { ToolDefinition } from '@echelon/agent-loop';
import { z } from 'zod';
import { runSubagent } from './run-subagent.js';
import { SUBAGENT_TOOL, type SubagentHost } from './subagent-host.js';

const PROMPT_CHARACTERS = 65_536;

const RunSubagentInput = z.strictObject({
  description: z.string().trim().min(1).max(80).describe('What it is to do, in three to six words; people see it.'),
  prompt: z
    .string()
    .trim()
    .min(1)
    .max(PROMPT_CHARACTERS)
    .describe(
      'The whole assignment: the goal, what is known and decided, the limits, and what the result should say. It sees nothing else.',
    ),
});

/** `run_subagent`: a nested run of the loop inside one call. `hostOf` finds what the caller's subagents run on, by the context of its calls. */
export function createSubagentTool<Context, Inner = Context>(
  hostOf: (context: Context) => SubagentHost<Inner> | null,
): ToolDefinition<typeof RunSubagentInput, Context> {
  return {
    name: SUBAGENT_TOOL,
    title: 'Run a subagent',
    description:
      'Hands one self-contained piece of your work to a subagent and waits for its result. It works in the same folder with your tools, starts with an empty conversation that holds only your prompt, ' +
      'cannot ask anybody anything, and returns one text: its result, or an error that says why it stopped and how far it got. Use it for searches and inquiries whose details you do not need, and for ' +
      'independent pieces at once: several calls in one response run side by side. Never let two of them change the same files. What it reads does not fill your conversation; what it changes stays changed.',
    input: RunSubagentInput,
    effect: 'agent',
    concurrencySafe: true,
    idempotent: false,
    execute: async (input, execution) => {
      const host = hostOf(execution.context);
      if (host === null) return { text: 'No subagent can be started here: the limit of their depth is reached.', isError: true };
      return runSubagent(host, input, execution);
    },
  };
}
