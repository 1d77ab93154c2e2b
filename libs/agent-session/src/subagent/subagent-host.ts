/**
 * What a surface gives its subagents: the same loop, models and tools, with a history and counters of their own (agent-loop.md §1).
 *
 * S1  A subagent has neither question tools nor the completion signal (D9); its surface derives its tools from a reduced contract.
 * S2  It never parks: what would wait for a person is denied, unless one is present and answers in place (P12).
 * S3  What it spends counts towards the budgets of the turn that started it; its rounds and launches are its own.
 */
import type { BatchHooks, LoopInput, Permissions, Unrecorded } from '@echelon/agent-loop';

export const SUBAGENT_TOOL = 'run_subagent';

/** Levels of subagents below an agent, where nobody says otherwise. */
const SUBAGENT_DEPTH = 2;

/** A call of `run_subagent`. */
export interface SubagentCall {
  readonly callId: string;
  readonly description: string;
  readonly prompt: string;
}

/** What one subagent runs on. */
export interface SubagentRun<Context> extends Pick<
  LoopInput<Context>,
  | 'models'
  | 'system'
  | 'tools'
  | 'context'
  | 'turn'
  | 'promptId'
  | 'journal'
  | 'artifacts'
  | 'limits'
  | 'spending'
  | 'clock'
  | 'retry'
  | 'concurrency'
> {
  /** Those of the agent that called. */
  readonly permissions?: Permissions<Context>;
  /** Whether somebody is there who answers in place; else what would be asked is denied with a reason. */
  readonly personPresent: boolean;
  readonly hooks?: BatchHooks<Context>;
  /** Stores what no barrier has stored, whatever the end was. */
  readonly close?: (unrecorded: Unrecorded) => Promise<void>;
}

export interface SubagentHost<Context> {
  open(call: SubagentCall): Promise<SubagentRun<Context>>;
}

/** One level of subagents: `thread` is the surface's own word for who calls, `nest` the host of a subagent's own subagents. */
export interface SubagentLevel<Context, Thread> {
  readonly thread: Thread;
  /** `null` at the depth limit: such a subagent is not offered `run_subagent`. */
  readonly nest: (thread: Thread) => SubagentHost<Context> | null;
}

/** The host of an agent's subagents, `depth` levels deep; `null` where there are to be none. */
export function createSubagentHost<Context, Thread>(
  thread: Thread,
  open: (call: SubagentCall, level: SubagentLevel<Context, Thread>) => Promise<SubagentRun<Context>>,
  depth: number = SUBAGENT_DEPTH,
): SubagentHost<Context> | null {
  if (depth < 1) return null;
  const nest = (below: Thread): SubagentHost<Context> | null => createSubagentHost(below, open, depth - 1);
  return { open: (call) => open(call, { thread, nest }) };
}
