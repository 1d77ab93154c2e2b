/** The working state of one tool batch: a slot per call, in request order. */
import type { z } from 'zod';
import type { ArgumentLimits } from './argument-limits.js';
import type { ArtifactStore, BatchPolicies, KnownCalls } from './batch-ports.js';
import type { Barriers } from './barriers.js';
import { CallContent } from './call-identity.js';
import { settleUnrun, type CallStatus, type IdentifiedCall, type SettledCall, UNRUN } from './call-result.js';
import type { LoopClock } from './clock.js';
import type { EventSink } from './loop-events.js';
import type { LoopGuard } from './loop-guard.js';
import type { OutputBudget } from './output-budget.js';
import type { LoopStop, Wait } from './stop-reason.js';
import type { ToolDefinition } from './tool-port.js';
import type { ToolRegistry } from './tool-registry.js';

export interface ToolBatchInput<Context> {
  readonly calls: readonly IdentifiedCall[];
  readonly tools: ToolRegistry<Context>;
  readonly context: Context;
  readonly policies: BatchPolicies<Context>;
  readonly barriers: Barriers;
  readonly guard: LoopGuard;
  readonly known: KnownCalls;
  /** Aborting it, and only it, cancels the run. */
  readonly signal: AbortSignal;
  /** What tools run under; may be wider than `signal`. */
  readonly toolSignal: AbortSignal;
  readonly clock: LoopClock;
  readonly emit: EventSink;
  readonly artifacts: ArtifactStore | null;
  readonly outputBudget: OutputBudget;
  /** Safe calls in flight at most. */
  readonly concurrency: number;
  /** Milliseconds that a cancelled or timed-out tool gets to return. */
  readonly graceMs: number;
  /** Launches that this batch is allowed, those of an earlier run included. */
  readonly launchesLeft: number;
  readonly argumentLimits: ArgumentLimits | undefined;
  /** Whether a Lead waits, as far as this process has heard. */
  readonly leadPending: () => boolean;
}

/** Results stand in this order, then in request order. */
export type ResultClass = 'replay' | 'executed' | 'skipped' | 'repeat';

export interface Slot<Context> {
  readonly call: IdentifiedCall;
  readonly content: CallContent;
  class: ResultClass;
  /** Set once the call passed validation. */
  tool: ToolDefinition<z.ZodType, Context> | null;
  input: unknown;
  settled: SettledCall | null;
  /** Its result is stored already. */
  readonly recorded: boolean;
  /** Started by an earlier run of this turn, which did not live to see the result. */
  readonly resumed: boolean;
  /** What a model is told if nobody can see the result of a resumed call. */
  readonly lostText: string;
  wait: Wait | null;
  /** How often this call was made in a row. */
  streak: number;
}

export interface Batch<Context> {
  readonly input: ToolBatchInput<Context>;
  readonly slots: readonly Slot<Context>[];
  /** Nothing starts any more. */
  halt: LoopStop | null;
  /** Why the loop stops although every call was answered. */
  verdict: LoopStop | null;
  /** The turn was ended by a result. */
  endedBy: SettledCall | null;
  /** A call of this response has started. */
  started: boolean;
  /** Calls that were launched, by earlier runs of the turn too. */
  launches: number;
}

export function openBatch<Context>(input: ToolBatchInput<Context>): Batch<Context> {
  const slots = input.calls.map((call) => openSlot(call, input));
  const launched = slots.filter((slot) => slot.recorded || slot.resumed || slot.wait !== null).length;
  const batch: Batch<Context> = { input, slots, halt: null, verdict: null, endedBy: null, started: launched > 0, launches: launched };
  for (const slot of slots) if (slot.settled !== null) input.barriers.noteStored(slot.settled);
  batch.endedBy = slots.find((slot) => slot.settled?.endsTurn)?.settled ?? null;
  return batch;
}

function openSlot<Context>(call: IdentifiedCall, { known, tools }: ToolBatchInput<Context>): Slot<Context> {
  const result = known.results.get(call.callId);
  const waitsFor = known.waiting.get(call.callId);
  return {
    call,
    content: new CallContent(call.name, call.arguments),
    class: 'executed',
    tool: null,
    input: undefined,
    settled: result === undefined ? null : settleKnown(call, result, tools.find(call.name)?.endsTurn ?? false),
    recorded: result !== undefined,
    resumed: known.intended.has(call.callId),
    lostText: toLostText(call.callId, known),
    wait: waitsFor === undefined ? null : { kind: 'result', callId: call.callId, waitsFor },
    streak: 0,
  };
}

function toLostText(callId: string, { unreachable, notes }: KnownCalls): string {
  const text = unreachable?.has(callId) ? UNRUN.unreachable : UNRUN.unknown;
  const note = notes?.get(callId);
  return note === undefined ? text : `${text}\n\n${note}`;
}

function settleKnown(
  { callId, name }: IdentifiedCall,
  result: { readonly text: string; readonly isError: boolean; readonly endsTurn?: boolean },
  endsTurn: boolean,
): SettledCall {
  const { text, isError } = result;
  return { callId, name, status: isError ? 'failed' : 'succeeded', text, isError, endsTurn: result.endsTurn ?? (endsTurn && !isError) };
}

/** Settles a call that does not run. */
export function settle<Context>(
  batch: Batch<Context>,
  slot: Slot<Context>,
  status: Exclude<CallStatus, 'succeeded' | 'failed'>,
  text: string,
): void {
  slot.settled = settleUnrun(slot.call, status, text);
  batch.input.emit({ type: 'tool_settled', callId: slot.call.callId, status, text });
}

/** The calls that are not answered yet. */
export function openSlots<Context>(batch: Batch<Context>): Slot<Context>[] {
  return batch.slots.filter((slot) => slot.settled === null && slot.wait === null);
}

/** Notices an abort: from then on nothing starts. */
export function checkAbort<Context>(batch: Batch<Context>): boolean {
  if (batch.input.signal.aborted) batch.halt ??= { reason: 'cancelled', by: 'signal' };
  // A hook that a hand-over cut off has not answered: its call is neither allowed nor refused.
  else if (batch.input.toolSignal.aborted) batch.halt ??= batch.input.barriers.checkHandOver();
  return batch.halt !== null || batch.input.toolSignal.aborted;
}

/** A Lead lets the first call of a response run and skips the others that did not start (L3, L5). */
export function isLeadPending<Context>(batch: Batch<Context>): boolean {
  return batch.input.barriers.leadPending || batch.input.leadPending();
}
