/**
 * One `tools/call`: validated, limited in time, and answered as a result that a model can read.
 *
 * C1  No call is held longer than the long-poll limit; a caller that goes away aborts it (architecture.md §6).
 * C2  Errors name tool, path and rule in the loop's own words, and never repeat a value (autopilot-contract.md §4).
 */
import { randomUUID } from 'node:crypto';
import { type InvalidArguments, refuseOverLimit, validateInput } from '@echelon/agent-loop';
import { type ErrorCode, ERRORS } from '@echelon/contracts';
import { DEFAULT_LIMITS } from '@echelon/domain';
import type { Actor } from '@echelon/orchestration';
import { ARGUMENT_LIMITS, type CatalogueTool } from '@echelon/tools';
import { canonicalValue } from '../http/canonical-value.js';

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
  const given = call.arguments ?? {};
  const validation = refuseOverLimit(call.tool, given, ARGUMENT_LIMITS) ?? validateInput(call.tool, canonicalValue(given));
  if (!validation.valid) return invalidResult(call.tool.name, validation);
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

function invalidResult(tool: string, { text, exceeded }: InvalidArguments): ToolResult {
  const error: ErrorCode = exceeded ? 'LIMIT_EXCEEDED' : 'INVALID_INPUT';
  return { text, isError: true, structured: { error, tool } };
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
