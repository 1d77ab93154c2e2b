/**
 * One `tools/call`: validated, limited in time, and answered as a result that a model can read.
 *
 * C1  No call is held longer than the long-poll limit; a caller that goes away aborts it (architecture.md §6).
 * C2  Errors name tool, path and rule, and never repeat a value (autopilot-contract.md §4).
 */
import { randomUUID } from 'node:crypto';
import { type ErrorCode, ERRORS } from '@echelon/contracts';
import { DEFAULT_LIMITS } from '@echelon/domain';
import type { Actor } from '@echelon/orchestration';
import type { CatalogueTool } from '@echelon/tools';
import { canonicalValue } from '../http/canonical-value.js';
import { toViolations } from '../http/violations.js';
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
  const parsed = call.tool.input.safeParse(canonicalValue(call.arguments ?? {}));
  if (!parsed.success) return invalid(call.tool.name, parsed.error.issues);
  return withinTime(call, (signal) =>
    call.tool.execute(parsed.data, {
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

function invalid(name: string, issues: Parameters<typeof toViolations>[0]): ToolResult {
  const errors = toViolations(issues);
  const lines = errors.map(({ path, rule }) => `- ${path === '' ? 'arguments' : path}: ${rule}`);
  return {
    text: `INVALID_INPUT: ${name}: the arguments do not match the tool's schema. Correct these fields and call again:\n${lines.join('\n')}`,
    isError: true,
    structured: { error: 'INVALID_INPUT', tool: name, errors },
  };
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
