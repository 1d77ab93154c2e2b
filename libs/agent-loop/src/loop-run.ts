/** The state of one run of the loop: its history, what it has used, and what is not stored yet. */
import { Barriers } from './barriers.js';
import { CallLedger } from './call-ledger.js';
import { systemClock, type LoopClock } from './clock.js';
import { Cut } from './cut.js';
import { countLaunched, NOTHING_KNOWN } from './batch-ports.js';
import { compactHistory, type CompactedHistory } from './compaction-plan.js';
import { estimateOverhead, PromptSize } from './context-window.js';
import { pairHistory } from './history.js';
import { volatileJournal, type SealedResponse, type SendType } from './journal-port.js';
import { NEW_COUNTERS, type LoopCounters } from './limits.js';
import type { EventSink } from './loop-events.js';
import { LoopGuard } from './loop-guard.js';
import { Spending } from './spending.js';
import type { LoopInput, LoopUse, StartingPoint } from './loop-input.js';
import type { IdentifiedCall } from './call-result.js';
import type { ModelMessage, Usage } from './model-port.js';
import type { ModelTarget } from './model-round.js';
import { recallResponse, type ModelResponse } from './response.js';

const FALLBACKS = 3;

export class LoopRun<Context> {
  readonly history: ModelMessage[];
  readonly size: PromptSize;
  /** The opening of the turn and its Leads, in the history. */
  readonly instructions: Set<ModelMessage>;
  /** Messages that the last compaction put at the beginning of the history. */
  compacted: number;
  /** An earlier run prepared the next request, with Leads at its end: it goes out as it was, whatever its size. */
  prepared: boolean;
  readonly barriers: Barriers;
  readonly ledger: CallLedger;
  readonly guard: LoopGuard;
  readonly clock: LoopClock;
  readonly cut: Cut;
  readonly emit: EventSink;
  readonly spending: NonNullable<LoopInput<Context>['spending']>;
  /** Calls of a batch that an earlier run left open. */
  readonly unfinished: readonly IdentifiedCall[];
  /** The response that an earlier run left at its stop point. */
  readonly answered: ModelResponse | null;
  rounds = 0;
  lastResponse: ModelResponse | null;
  unsentResults: ModelMessage | null = null;
  sendType: SendType;
  /** Launches when the last response was stored: those of its batch are known from its calls, until the next request. */
  private storedLaunches: number;
  /** The counters without the time of this run. */
  used: LoopCounters;
  private readonly startedAt: number;
  /** What was used when this run began. */
  private readonly before: Omit<LoopUse, 'elapsedMs'>;

  constructor(readonly input: LoopInput<Context>) {
    const { start } = input;
    this.clock = input.clock ?? systemClock;
    this.cut = new Cut({ loop: input.signal, handOver: input.handOver, merged: input.roundSignal });
    this.emit = input.onEvent ?? ignore;
    this.history = start.history;
    this.barriers = new Barriers(input.journal ?? volatileJournal(), input.handOver, start.unrecorded);
    this.guard = new LoopGuard((name) => input.tools.find(name)?.polling ?? false);
    this.used = start.counters ?? NEW_COUNTERS;
    this.storedLaunches = this.used.launches;
    this.spending = input.spending ?? new Spending(this.used.tokens, this.used.cost);
    this.startedAt = this.clock.now();
    const { tokens, cost } = this.spending;
    this.before = { launches: this.used.launches + countLaunched(start.known ?? NOTHING_KNOWN), tokens, cost };
    const open = takeOpenResponse(this.history);
    this.ledger = CallLedger.of([...(start.replaced ?? []), ...this.history]);
    this.guard.seed(this.history);
    this.unfinished = open === null ? [] : this.ledger.recognise(open).map((call) => ({ ...call, cutOff: false }));
    if (open !== null) this.history.push(open);
    this.answered = this.lastResponse = recallAnswer(this.history, start.answered);
    this.compacted = start.compacted ?? 0;
    this.instructions = new Set(start.instructions);
    this.prepared = this.instructions.size > 1 && start.instructions?.at(-1) === this.history.at(-1);
    this.size = new PromptSize(estimateOverhead({ system: input.system, tools: input.tools.specifications }));
    this.knowSize();
    this.sendType = start.opening?.sendType ?? start.sendType ?? (this.history.at(-1)?.role === 'user' ? 'user' : 'tool_result');
    if (start.opening !== undefined) this.open({ role: 'user', parts: start.opening.parts });
  }

  /** The model in use and those to fall back on. */
  get targets(): readonly ModelTarget[] {
    return this.input.models.slice(this.used.target, 1 + FALLBACKS);
  }

  get counters(): LoopCounters {
    return { ...this.used, elapsedMs: this.used.elapsedMs + this.clock.now() - this.startedAt };
  }

  /** The counters as budgets see them: tokens and cost are those of all loops of the turn. */
  get budgeted(): LoopCounters {
    return { ...this.counters, tokens: this.spending.tokens, cost: this.spending.cost };
  }

  /** A batch that is left open is not counted. */
  get usedByRun(): LoopUse {
    const { before, spending, used } = this;
    return {
      launches: Math.max(0, used.launches - before.launches),
      tokens: spending.tokens - before.tokens,
      cost: spending.cost - before.cost,
      elapsedMs: this.clock.now() - this.startedAt,
    };
  }

  /** The counters of a history that may end with an answered batch: who rebuilds it enters that batch again. */
  get countersBeforeBatch(): LoopCounters {
    return { ...this.counters, launches: this.storedLaunches };
  }

  count(change: Partial<LoopCounters>): void {
    this.used = { ...this.used, ...change };
  }

  get leadPending(): boolean {
    return this.barriers.leadPending || (this.input.leadPending?.() ?? false);
  }

  private open(opening: ModelMessage): void {
    this.instructions.add(opening);
    this.say(opening);
  }

  /** Appends a message that no barrier has stored yet. */
  say(message: ModelMessage): void {
    this.history.push(message);
    this.barriers.holdMessage(message);
  }

  /** Appends the results of a batch; no request has carried them yet. */
  answer(results: ModelMessage): void {
    this.history.push(results);
    this.unsentResults = results;
  }

  /** Appends what a request's transaction included; from here on nothing is unsent. */
  takeBoundaryInput(messages: readonly ModelMessage[]): void {
    this.unsentResults = null;
    this.prepared = false;
    if (messages.length === 0) return;
    for (const message of messages) {
      this.history.push(message);
      this.instructions.add(message);
    }
    this.guard.reset();
  }

  /** Takes a response into history; it waits for its barrier. */
  accept(response: ModelResponse): void {
    this.lastResponse = response;
    this.rounds++;
    const counts = this.sendType !== 'retry';
    this.count({ rounds: this.used.rounds + 1, sessionRounds: this.used.sessionRounds + (counts ? 1 : 0) });
    this.countUsage(response);
    if (response.message !== null) this.history.push(response.message);
    this.knowSize();
    this.storedLaunches = this.used.launches;
    this.barriers.holdResponse(this.toSealed(response, this.used.rounds));
  }

  /** Keeps the partial text of a round that came to no response: for people, not for a model. */
  keepPartial(response: ModelResponse): void {
    this.lastResponse = response;
    this.countUsage(response);
    this.barriers.holdResponse(this.toSealed(response, this.used.rounds + 1));
  }

  /** Takes the history that a compaction left; what follows is as if the run had begun with it. */
  takeCompaction(compaction: CompactedHistory): void {
    replaceHistory(this.history, compactHistory(this.history, compaction));
    this.compacted = 1 + compaction.instructions.length;
    if (compaction.kept === 0) this.unsentResults = null;
    this.size.forget();
    this.guard.reset();
    this.guard.seed(this.history);
  }

  private countUsage(response: ModelResponse): void {
    this.spend(response);
    this.count({ contextTokens: tokensOf(response.usage) });
  }

  /** Counts the tokens and the cost of a response and of what was abandoned for it. */
  spend({ usage, model, abandoned }: Pick<ModelResponse, 'usage' | 'model' | 'abandoned'>): void {
    const price = this.input.limits?.budgets?.cost?.price;
    let { tokens, cost } = this.used;
    for (const request of [...abandoned, { usage, model }]) {
      if (request.usage === null) continue;
      tokens += tokensOf(request.usage);
      cost += price?.(request.usage, request.model) ?? 0;
    }
    this.spending.add(tokens - this.used.tokens, cost - this.used.cost);
    this.count({ tokens, cost });
  }

  /** What the provider counted last covers everything up to its response. */
  private knowSize(): void {
    const { contextTokens } = this.used;
    if (contextTokens > 0) this.size.know(contextTokens, this.history.findLastIndex((message) => message.role === 'assistant') + 1);
  }

  private toSealed(response: ModelResponse, round: number): SealedResponse {
    const { model, message, reason, rawReason, usage, complete, abandoned } = response;
    const calls = response.calls.map(({ callId, name, arguments: raw }) => {
      return { callId, name, arguments: raw, effect: this.input.tools.find(name)?.effect ?? 'read' };
    });
    return { round, model, message, calls, reason, rawReason, usage, complete, abandoned, counters: this.counters };
  }
}

/** Takes the last message away if its calls are not answered yet, and pairs the rest. */
function takeOpenResponse(history: ModelMessage[]): Extract<ModelMessage, { role: 'assistant' }> | null {
  const last = history.at(-1);
  const open = last?.role === 'assistant' && last.parts.some((part) => part.type === 'tool_call') ? last : null;
  if (open !== null) history.pop();
  const paired = pairHistory(history);
  if (paired !== history) replaceHistory(history, paired);
  return open;
}

function recallAnswer(history: readonly ModelMessage[], answered: StartingPoint['answered']): ModelResponse | null {
  const last = history.at(-1);
  return answered === undefined || last?.role !== 'assistant' ? null : recallResponse(last, answered);
}

function replaceHistory(history: ModelMessage[], messages: readonly ModelMessage[]): void {
  history.length = 0;
  for (const message of messages) history.push(message);
}

function tokensOf(usage: Usage): number {
  return (usage.inputTokens ?? 0) + (usage.outputTokens ?? 0);
}

function ignore(): void {
  // A run without a surface has nobody to tell.
}
