/** A run whose result has the shape of a JSON schema: a tool that takes it, and the policies that end the run with the first valid one. */
import type { BatchPolicies, IdentifiedCall, SettledCall, StopPolicy, ToolDefinition } from '@echelon/agent-loop';
import { z } from 'zod';

export const STRUCTURED_OUTPUT_TOOL = 'structured_output';
const REMINDER = `You have not given the result yet. Call ${STRUCTURED_OUTPUT_TOOL} with it now.`;
const SKIPPED = `Not executed: this response gives the result with ${STRUCTURED_OUTPUT_TOOL}, which ends the run.`;

export interface StructuredOutput<Context> {
  readonly tool: ToolDefinition<z.ZodType, Context>;
  readonly policies: Pick<BatchPolicies<Context>, 'select' | 'beforeToolLaunch' | 'onResults'>;
  /** Reminds a model that ends without a result, once. */
  readonly stopPolicy: StopPolicy;
  /** The first valid result; `undefined` until there is one. */
  readonly result: () => Readonly<Record<string, unknown>> | undefined;
}

/** Throws when the schema is none, or describes no object. */
export function createStructuredOutput<Context>(schema: Readonly<Record<string, unknown>>): StructuredOutput<Context> {
  if (schema.type !== 'object') throw new Error('the schema must describe an object: its "type" is not "object"');
  const input = z.fromJSONSchema(schema);
  let result: Readonly<Record<string, unknown>> | undefined;
  let reminded = false;
  return {
    result: () => result,
    stopPolicy: {
      name: STRUCTURED_OUTPUT_TOOL,
      decide: () => {
        const remind = result === undefined && !reminded;
        reminded = true;
        return Promise.resolve(remind ? { continueWith: REMINDER } : null);
      },
    },
    tool: {
      name: STRUCTURED_OUTPUT_TOOL,
      title: 'Give the result',
      description:
        'Gives the final result of this run, in the shape of its parameters. Call it once, when everything else is done; it ends the run.',
      input,
      effect: 'read',
      concurrencySafe: false,
      idempotent: true,
      execute: (given) => {
        result = given as Readonly<Record<string, unknown>>;
        return Promise.resolve({ text: 'The result was taken.', isError: false, structured: result });
      },
    },
    policies: {
      select: (calls) => skipOthers(calls),
      // Of several results of one response the first valid one counts; what follows it is not run.
      beforeToolLaunch: () => result === undefined,
      onResults: (results) => (hasResult(results) ? 'end' : 'go_on'),
    },
  };
}

function skipOthers(calls: readonly IdentifiedCall[]): ReadonlyMap<string, string> {
  if (!calls.some(({ name }) => name === STRUCTURED_OUTPUT_TOOL)) return new Map();
  return new Map(calls.filter(({ name }) => name !== STRUCTURED_OUTPUT_TOOL).map(({ callId }) => [callId, SKIPPED]));
}

function hasResult(results: readonly SettledCall[]): boolean {
  return results.some(({ name, status }) => name === STRUCTURED_OUTPUT_TOOL && status === 'succeeded');
}
