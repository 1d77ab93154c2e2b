/**
 * The tool port: what the loop needs to know of a tool, and how it runs one call.
 *
 * T1  `execute` never throws for an expected failure: it returns a result with `isError`.
 * T2  A tool that is not `concurrencySafe` for a given input runs alone.
 */
import type { z } from 'zod';

/** What a call may change. `read` changes nothing; a call with another effect has an intent barrier before it runs. */
export type ToolEffect = 'read' | 'write' | 'execute' | 'agent';

export interface ToolResult {
  /** What the model reads. */
  readonly text: string;
  readonly isError: boolean;
  /** Stops the loop with `tool_ended_turn`; later calls of the batch are not run. */
  readonly endsTurn?: boolean;
  /** The answer comes later: the loop parks until it is known. */
  readonly parkedFor?: string;
  /** Machine-readable form of the same result, for MCP `structuredContent` and for surfaces. */
  readonly structured?: Readonly<Record<string, unknown>>;
}

/** Where and for whom a call runs. `Context` is the caller's identity; the loop passes it through without looking. */
export interface ToolExecution<Context> {
  readonly callId: string;
  readonly signal: AbortSignal;
  readonly context: Context;
  /** Live output, for people; never sent to the model. */
  readonly report?: (chunk: string) => void;
}

/** A method type, so that tools with different inputs fit one list. */
type InputJudgement<Input> = { judge(input: Input): boolean }['judge'];

/** One tool, defined once, used by the loop and by MCP. */
export interface ToolDefinition<Schema extends z.ZodType = z.ZodType, Context = unknown> {
  readonly name: string;
  /** Short human title. */
  readonly title: string;
  /** Written for a model: what it does, when to use it, what comes back. */
  readonly description: string;
  /** A strict object schema: unknown arguments are refused. */
  readonly input: Schema;
  readonly effect: ToolEffect;
  /** Safe to run beside other safe calls; judged from the final input. */
  readonly concurrencySafe: boolean | InputJudgement<z.output<Schema>>;
  /** The call id is the tool's idempotency key: an unknown outcome may be executed again. */
  readonly idempotent: boolean;
  /** A successful result ends the turn, so calls after it are settled `not_executed` at selection. */
  readonly endsTurn?: boolean;
  /** Polling tools are exempt from the identical-call loop protection. */
  readonly polling?: boolean;
  /** Milliseconds that one call may take; past it the call is an error result, not a cancel. Absent: no limit. */
  readonly timeLimitMs?: number;
  /** Runs one call with validated input. */
  execute(input: z.output<Schema>, execution: ToolExecution<Context>): Promise<ToolResult>;
}
