import type { ArtifactStore, BatchHooks, BatchPolicies, KnownCalls } from './batch-ports.js';
import type { LoopClock } from './clock.js';
import type { Journal, SendType, Unrecorded } from './journal-port.js';
import type { LoopCounters, LoopLimits } from './limits.js';
import type { EventSink } from './loop-events.js';
import type { ModelMessage, TextPart } from './model-port.js';
import type { ModelTarget } from './model-round.js';
import type { OutputBudget } from './output-budget.js';
import type { ModelResponse } from './response.js';
import type { RetryPolicy } from './retry-policy.js';
import type { Spending } from './spending.js';
import type { LoopStop } from './stop-reason.js';
import type { ToolRegistry } from './tool-registry.js';

/** What opens a turn. */
export interface Opening {
  readonly parts: readonly TextPart[];
  readonly sendType: SendType;
}

/**
 * Where a run begins: a new turn, or a turn rebuilt from its journal. A history that ends with calls is an unfinished batch and is
 * entered in its middle; one that ends with a response known as `answered` is entered at its stop point; any other goes on with the next
 * request.
 */
export interface StartingPoint {
  /** Owned by the loop, which only appends (and replaces it once when it must be paired or compacted); handed to clients by reference. */
  readonly history: ModelMessage[];
  /** Absent: the history already holds what is sent next, or the next request's boundary input does. */
  readonly opening?: Opening;
  /** What the first request carries, where no opening says it. */
  readonly sendType?: SendType;
  readonly known?: KnownCalls;
  /** The history ends with a complete response of this very turn, without calls: whether it was the last is not decided yet. */
  readonly answered?: Pick<ModelResponse, 'model' | 'reason'>;
  /** As stored with the barrier that the history ends with. */
  readonly counters?: LoopCounters;
  /** What an earlier run left unrecorded, if its caller did not store it. */
  readonly unrecorded?: Unrecorded;
  /** The opening of this turn, then its Leads, as far as they stand in `history`: the same objects. Compaction keeps their words (L19). */
  readonly instructions?: readonly ModelMessage[];
  /** How many messages an earlier compaction put at the beginning of `history`: its summary and what it kept of its turn. */
  readonly compacted?: number;
  /** The responses that compactions took out of the history, in order: their calls stay known. */
  readonly replaced?: readonly ModelMessage[];
}

export interface LoopHooks<Context> extends BatchHooks<Context> {
  /** Before the first and each tool-result request; a block ends the turn with `prompt_blocked`. */
  promptSubmit?(prompt: { readonly sendType: SendType; readonly text: string }): Promise<{ readonly block: string } | null>;
  /** At a call-free response; a block goes on with its reason, at most 8 times per prompt. */
  stop?(response: ModelResponse): Promise<{ readonly block: string } | null>;
}

/** A surface's own reason to go on at a stop point; asked in order once the stop hook lets the response stop. */
export interface StopPolicy {
  readonly name: string;
  decide(response: ModelResponse): Promise<{ readonly continueWith: string } | null>;
  /** The stop hook's cap ended the turn; the policy is not asked. */
  onStopHookCap?(): void;
}

export interface LoopInput<Context> {
  readonly start: StartingPoint;
  /** The model to ask, then at most 3 fallbacks. */
  readonly models: readonly ModelTarget[];
  readonly system: string;
  readonly tools: ToolRegistry<Context>;
  /** Handed to tools untouched. */
  readonly context: Context;
  /** Names the turn in generated call ids: letters, digits, `-`, `_`. */
  readonly turn: string;
  readonly promptId: string;
  /** Aborting it, and only it, cancels the run. */
  readonly signal: AbortSignal;
  /** What tools run under; may be wider than `signal`. Default: `signal`. */
  readonly toolSignal?: AbortSignal;
  /** Ends a model round without cancelling the run. */
  readonly roundSignal?: AbortSignal;
  /** The process ends: the run stops at its next barrier with `handed_over` (K23). */
  readonly handOver?: AbortSignal;
  /** Default: nothing is stored. */
  readonly journal?: Journal;
  readonly artifacts?: ArtifactStore;
  readonly clock?: LoopClock;
  readonly onEvent?: EventSink;
  /** Also forward `tool_call_preparation` events. */
  readonly preparations?: boolean;
  readonly limits?: LoopLimits;
  /** What the budgets of tokens and cost are compared with, shared by the loops of one turn; earlier runs are counted in it. Default: this loop's own. */
  readonly spending?: Pick<Spending, 'tokens' | 'cost' | 'add'>;
  readonly policies?: Omit<BatchPolicies<Context>, 'hooks'>;
  readonly hooks?: LoopHooks<Context>;
  readonly stopPolicies?: readonly StopPolicy[];
  /** Whether a Lead waits, as far as this process has heard; the journal's replies say it too. */
  readonly leadPending?: () => boolean;
  readonly retry?: RetryPolicy;
  readonly outputBudget?: OutputBudget;
  /** Concurrency-safe calls in flight at most; default 10. */
  readonly concurrency?: number;
  /** Milliseconds that a cancelled tool gets to return; default 5,000. */
  readonly graceMs?: number;
}

/** What one run of the loop used, earlier runs of its turn left out; `tokens` and `cost` are those of its subagents, too. */
export type LoopUse = Pick<LoopCounters, 'launches' | 'tokens' | 'cost' | 'elapsedMs'>;

export interface LoopResult {
  readonly stop: LoopStop;
  /** Model rounds of this run. */
  readonly rounds: number;
  readonly lastResponse: ModelResponse | null;
  /** The results that no request has carried yet; they stand in the history, too. */
  readonly unsentResults?: ModelMessage;
  readonly counters: LoopCounters;
  readonly used: LoopUse;
  /** What the caller's settlement stores in the transaction that ends or parks the turn (barrier 5). */
  readonly unrecorded: Unrecorded;
}
