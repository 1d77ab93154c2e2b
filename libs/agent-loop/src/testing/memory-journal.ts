import type { KnownCalls } from '../batch-ports.js';
import type { SettledCall } from '../call-result.js';
import type {
  BarrierRefusal,
  BarrierReply,
  CallsBarrier,
  CompactionBarrier,
  Journal,
  PrepareReply,
  RequestBarrier,
  SealedResponse,
  SendType,
  Unrecorded,
} from '../journal-port.js';
import { NEW_COUNTERS, type LoopCounters } from '../limits.js';
import type { StartingPoint } from '../loop-input.js';
import type { ModelMessage, ToolCallPart, ToolResultPart } from '../model-port.js';

/** What goes wrong at one barrier, counted from 0. `before` and `after`: the process dies on that side of the commit. */
export interface BarrierFault {
  readonly at: number;
  readonly fault: 'before' | 'after' | 'lost' | 'stopped';
}

/** A journal in memory that can die at any barrier and rebuild the starting point of the next run, as a real one does from rows. */
export class MemoryJournal implements Journal {
  /** Committed barriers, as words: `prepare`, `seal+intent:a`, `calls result:a intent:b`. */
  readonly log: string[] = [];
  readonly requests: RequestBarrier[] = [];
  readonly responses: SealedResponse[] = [];
  /** Stored messages; results are rows of their own. */
  readonly messages: ModelMessage[] = [];
  readonly intents = new Set<string>();
  readonly results = new Map<string, SettledCall>();
  /** Pending Leads; included by the next request. */
  readonly leads: string[] = [];
  counters: LoopCounters = NEW_COUNTERS;
  /** `head`: the summary and the instructions that follow it; they stand in for the first `through` messages. */
  private compaction: { readonly head: readonly ModelMessage[]; readonly through: number } = { head: [], through: 0 };
  private readonly instructions = new Set<ModelMessage>();
  private sealed: LoopCounters = NEW_COUNTERS;
  private sendType: SendType | undefined;
  private barriers = 0;

  constructor(private fault: BarrierFault | null = null) {}

  prepareRequest(request: RequestBarrier): Promise<PrepareReply> {
    return this.commit(() => {
      this.record(request);
      this.requests.push(request);
      this.sendType = request.sendType;
      this.counters = request.counters;
      const input = this.leads.splice(0).map((text): ModelMessage => ({ role: 'user', parts: [{ type: 'text', text }] }));
      this.messages.push(...input);
      for (const message of input) this.instructions.add(message);
      this.log.push('prepare');
      return { status: 'committed', input };
    });
  }

  sealResponse(response: SealedResponse, intents: readonly string[]): Promise<BarrierReply> {
    return this.commit(() => {
      this.record({ response, results: [], messages: [] });
      for (const id of intents) this.intents.add(id);
      this.log.push(['seal', ...intents.map((id) => `intent:${id}`)].join(' '));
      return { status: 'committed', leadPending: this.leads.length > 0 };
    });
  }

  recordCalls({ results, intents }: CallsBarrier): Promise<BarrierReply> {
    return this.commit(() => {
      this.record({ response: null, results, messages: [] });
      for (const id of intents) this.intents.add(id);
      this.log.push(['calls', ...results.map(({ callId }) => `result:${callId}`), ...intents.map((id) => `intent:${id}`)].join(' '));
      return { status: 'committed', leadPending: this.leads.length > 0 };
    });
  }

  compact(barrier: CompactionBarrier): Promise<BarrierReply> {
    return this.commit(() => {
      this.record(barrier);
      this.counters = this.sealed = barrier.counters;
      this.compaction = { head: [barrier.summary, ...barrier.instructions], through: this.messages.length - barrier.kept };
      this.log.push('compact');
      return { status: 'committed', leadPending: this.leads.length > 0 };
    });
  }

  /** What the caller's settlement does with the rest. */
  settle(unrecorded: Unrecorded): void {
    this.record(unrecorded);
    this.log.push('settle');
  }

  /** Sets the next fault, counted from now. */
  arm(fault: BarrierFault | null): void {
    this.fault = fault;
    this.barriers = 0;
  }

  /** The starting point of the next run, from what was committed. `answers` decides parked calls. */
  restart(answers: ReadonlyMap<string, { readonly text: string; readonly isError: boolean }> = new Map()): StartingPoint {
    this.fault = null;
    const { head, through } = this.compaction;
    const endsWithCalls = through < this.messages.length && callsOf(this.messages.at(-1)).length > 0;
    const [last, response] = [this.messages.at(-1), this.responses.at(-1)];
    const answered = last !== undefined &&
      last === response?.message &&
      !endsWithCalls && { model: response.model, reason: response.reason };
    const known: KnownCalls = {
      results: new Map([...this.results, ...answers]),
      intended: new Set([...this.intents].filter((id) => !this.results.has(id) && !answers.has(id))),
      waiting: new Map(),
    };
    const base = {
      history: [...head, ...this.rebuild(through)],
      counters: endsWithCalls ? this.sealed : this.counters,
      known,
      ...(answered && { answered }),
      instructions: [...this.instructions],
      compacted: head.length,
      replaced: this.messages.slice(0, through).filter(({ role }) => role === 'assistant'),
    };
    return this.sendType === undefined || endsWithCalls ? base : { ...base, sendType: this.sendType };
  }

  /** The history with the results of each batch in one message, in the order of its calls; the last batch stays open. */
  private rebuild(from: number): ModelMessage[] {
    return this.messages.slice(from).flatMap((message, at, all) => {
      const parts = callsOf(message).flatMap(({ call_id }) => this.results.get(call_id) ?? []);
      if (parts.length === 0 || at === all.length - 1) return [message];
      return [message, { role: 'tool', parts: parts.map(toPart) }];
    });
  }

  private record({ response, results, messages }: Unrecorded): void {
    if (response !== null) {
      this.responses.push(response);
      this.counters = response.counters;
      this.sealed = response.counters;
      if (response.message !== null && response.complete) this.messages.push(response.message);
    }
    for (const result of results) this.results.set(result.callId, result);
    // The first message of a turn is its opening.
    if (this.messages.length === 0) for (const opening of messages.slice(0, 1)) this.instructions.add(opening);
    this.messages.push(...messages);
  }

  private async commit<Reply>(write: () => Reply): Promise<Reply | BarrierRefusal> {
    const fault = this.fault !== null && this.fault.at === this.barriers++ ? this.fault.fault : null;
    await Promise.resolve();
    if (fault === 'before') throw new Error('died before the commit');
    if (fault === 'lost' || fault === 'stopped') return { status: fault };
    const reply = write();
    if (fault === 'after') throw new Error('died after the commit');
    return reply;
  }
}

function callsOf(message: ModelMessage | undefined): ToolCallPart[] {
  return message?.role === 'assistant' ? message.parts.filter((part) => part.type === 'tool_call') : [];
}

function toPart({ callId, name, text, isError }: SettledCall): ToolResultPart {
  return { type: 'tool_result', call_id: callId, name, text, is_error: isError };
}
