/**
 * The journal port: the barriers of a turn (agent-loop.md §7). Each method is one committed transaction that compares the lease epoch.
 *
 * B1  A request is sent only after `prepareRequest` committed.
 * B2  No call of a response runs before `sealResponse` committed.
 * B3  A call with effects runs only after its id was committed as an intent, by `sealResponse` or `recordCalls`.
 * B4  Its result is committed before the next call with effects starts, or with the next request.
 * B5  The end of a turn is the caller's settlement: it also stores `LoopResult.unrecorded`.
 * B6  A history is compacted when `compact` committed: what is rebuilt from then on is its summary, its instructions, and of the rest
 *     the last `kept` messages with their results. Nothing is deleted.
 *
 * A result may come a second time, when its batch had to be cut further: the last text is the one that models read. Results are not
 * repeated in `messages`: the results of a batch are one tool message, in the order of its calls.
 *
 * Within one barrier the order is: response, results, messages. A method that throws stops the turn (`error`, kind `persistence`).
 */
import type { SettledCall } from './call-result.js';
import type { LoopCounters } from './limits.js';
import type { ModelMessage, UnifiedFinishReason, Usage } from './model-port.js';
import type { AbandonedAttempt } from './response.js';
import type { ToolEffect } from './tool-port.js';

/** Where a request comes from. */
export type SendType = 'user' | 'tool_result' | 'answer' | 'lead' | 'alert' | 'hook' | 'retry';

export interface SealedCall {
  readonly callId: string;
  readonly name: string;
  /** Raw JSON text. */
  readonly arguments: string;
  readonly effect: ToolEffect;
}

/** A response as it is stored. */
export interface SealedResponse {
  /** Number of the round in its turn, from 1. */
  readonly round: number;
  readonly model: string;
  /** `null`: nothing was said that a history could keep. */
  readonly message: ModelMessage | null;
  readonly calls: readonly SealedCall[];
  readonly reason: UnifiedFinishReason;
  readonly rawReason: string | null;
  readonly usage: Usage;
  /** False for partial text: shown to people with a mark. */
  readonly complete: boolean;
  readonly abandoned: readonly AbandonedAttempt[];
  readonly counters: LoopCounters;
}

/** What happened since the last barrier and is not stored yet. */
export interface Unrecorded {
  readonly response: SealedResponse | null;
  readonly results: readonly SettledCall[];
  readonly messages: readonly ModelMessage[];
}

export interface RequestBarrier extends Unrecorded {
  readonly promptId: string;
  readonly sendType: SendType;
  readonly model: string;
  readonly round: number;
  /** Above 1 the round's earlier requests are void. */
  readonly attempt: number;
  readonly counters: LoopCounters;
}

export interface CallsBarrier {
  readonly results: readonly SettledCall[];
  /** Ids of calls that are about to run. */
  readonly intents: readonly string[];
}

/** A summary takes the place of the oldest part of the history; comes after what is unrecorded, in the same transaction. */
export interface CompactionBarrier extends Unrecorded {
  /** A user message. */
  readonly summary: ModelMessage;
  /** The opening of this turn and its Leads among what the summary stands in for: they follow it, word for word (L19). */
  readonly instructions: readonly ModelMessage[];
  /** How many messages at the end of the history stay, those of results not counted. */
  readonly kept: number;
  readonly model: string;
  /** Of the summary's request. */
  readonly usage: Usage;
  readonly counters: LoopCounters;
}

/** `lost`: the epoch is not ours any more. `stopped`: the turn carries a stop flag. In both cases nothing was written. */
export type BarrierRefusal = { readonly status: 'lost' } | { readonly status: 'stopped' };

export type BarrierReply =
  | BarrierRefusal
  /** `leadPending`: a Lead waits to be included; calls that did not start are skipped (L3). */
  | { readonly status: 'committed'; readonly leadPending: boolean };

export type PrepareReply =
  | BarrierRefusal
  /** `input`: what became part of this request in the same transaction, in order: pending Leads; after tools also the surface's own. */
  | { readonly status: 'committed'; readonly input: readonly ModelMessage[] };

export interface Journal {
  prepareRequest(barrier: RequestBarrier): Promise<PrepareReply>;
  sealResponse(response: SealedResponse, intents: readonly string[]): Promise<BarrierReply>;
  recordCalls(barrier: CallsBarrier): Promise<BarrierReply>;
  compact(barrier: CompactionBarrier): Promise<BarrierReply>;
}

/** A journal for surfaces that keep nothing; `takeInput` hands over undelivered input after a batch, each piece once. */
export function volatileJournal(takeInput?: (barrier: RequestBarrier) => readonly ModelMessage[]): Journal {
  const committed = Promise.resolve({ status: 'committed', leadPending: false } as const);
  return {
    prepareRequest: (barrier) => Promise.resolve({ status: 'committed', input: takeInput?.(barrier) ?? [] }),
    sealResponse: () => committed,
    recordCalls: () => committed,
    compact: () => committed,
  };
}
