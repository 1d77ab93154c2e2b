/**
 * One `tools/call`: validated, limited in time, and answered as a result that a model can read.
 *
 * C1  No call is held longer than the long-poll limit; a caller that goes away aborts it (architecture.md §6).
 * C2  Errors name tool, path and rule in the loop's own words, and never repeat a value (autopilot-contract.md §4).
 */
import { randomUUID } from 'node:crypto';
import { validateInput } from '@echelon/agent-loop';
import { type ErrorCode, ERRORS } from '@echelon/contracts';
import { DEFAULT_LIMITS } from '@echelon/domain';
import type { Actor } from '@echelon/orchestration';
import type { CatalogueTool } from '@echelon/tools';
import { canonicalValue } from '../http/canonical-value.js';
import { exceedsLevels } from './nesting.js';

export type ToolResult = Awaited<ReturnType<CatalogueTool['execute']>>;

export interface CallRequest {
  readonly tool: CatalogueTool;
  readonly arguments: unknown;
  readonly actor: Actor;
  /** The client's own id of the call, where it sent one (K16). */
  readonly callId: string | null;
  readonly signal: AbortSignal;
}

/** Runs a call; throws only what a broken promise throws. */
export async function callTool(call: CallRequest): Promise<ToolResult> {
  const refused = overLimit(call.tool.name, call.arguments);
  if (refused) return refused;
  const validation = validateInput(call.tool, canonicalValue(call.arguments ?? {}));
  if (!validation.valid) return { text: validation.text, isError: true, structured: { error: 'INVALID_INPUT', tool: call.tool.name } };
  return withinTime(call, (signal) =>
    call.tool.execute(validation.input, {
      callId: call.callId ?? `mcp-${randomUUID()}`,
      signal,
      context: { actor: call.actor.kind === 'agent' ? { ...call.actor, callId: call.callId } : call.actor, surface: 'mcp' },
    }),
  );
}

/** A refusal by its code, as a result: what is wrong, and what to do instead. */
export function refusalResult(code: ErrorCode, subject: string): ToolResult {
  const { title, advice } = ERRORS[code];
  return { text: `${code}: ${subject}: ${title} ${advice}`, isError: true, structured: { error: code } };
}

function overLimit(name: string, args: unknown): ToolResult | null {
  if (Buffer.byteLength(JSON.stringify(args ?? {})) > DEFAULT_LIMITS.tool_arguments_bytes)
    return refusalResult('LIMIT_EXCEEDED', `${name}: arguments: at most ${DEFAULT_LIMITS.tool_arguments_bytes} bytes`);
  if (exceedsLevels(args, DEFAULT_LIMITS.tool_arguments_levels))
    return refusalResult('LIMIT_EXCEEDED', `${name}: arguments: at most ${DEFAULT_LIMITS.tool_arguments_levels} levels`);
  return null;
}

async function withinTime({ tool, signal }: CallRequest, run: (signal: AbortSignal) => Promise<ToolResult>): Promise<ToolResult> {
  const limit = new AbortController();
  const limitMs = Math.min(tool.timeLimitMs ?? Infinity, DEFAULT_LIMITS.long_poll_ms);
  const { promise: timedOut, resolve } = Promise.withResolvers<ToolResult>();
  const timer = setTimeout(() => {
    resolve({
      text: `${tool.name} did not finish within ${limitMs / 1000} s. It may still take effect: look before you repeat it.`,
      isError: true,
    });
    limit.abort();
  }, limitMs);
  try {
    return await Promise.race([run(AbortSignal.any([signal, limit.signal])), timedOut]);
  } finally {
    clearTimeout(timer);
  }
}
