/** Joins neighbouring barriers into shared transactions, in order, and tells when the run must stop (agent-loop.md §7). */
import type { SettledCall } from './call-result.js';
import type { BarrierReply, CompactionBarrier, Journal, RequestBarrier, SealedResponse, Unrecorded } from './journal-port.js';
import type { ModelMessage } from './model-port.js';
import type { LoopStop } from './stop-reason.js';

export type PreparedInput = { readonly input: readonly ModelMessage[] } | { readonly stop: LoopStop };

export class Barriers {
  /** A Lead waits for the next request. */
  leadPending = false;
  private response: SealedResponse | null;
  /** By call id; a finalized result replaces the raw one. */
  private readonly results: Map<string, SettledCall>;
  /** Texts of results that were stored since the last request. */
  private readonly stored = new Map<string, string>();
  private messages: ModelMessage[];
  /** Commits of a concurrent group come one after the other. */
  private last: Promise<LoopStop | null> = Promise.resolve(null);

  constructor(
    private readonly journal: Journal,
    private readonly handOver: AbortSignal | undefined,
    unrecorded: Unrecorded | undefined,
  ) {
    this.response = unrecorded?.response ?? null;
    this.results = new Map(unrecorded?.results.map((result) => [result.callId, result]));
    this.messages = [...(unrecorded?.messages ?? [])];
  }

  /** What no barrier has stored; the caller's settlement does. */
  get unrecorded(): Unrecorded {
    return { response: this.response, results: [...this.results.values()], messages: this.messages };
  }

  holdResponse(response: SealedResponse): void {
    this.response = response;
  }

  /** Holds a result for the next barrier, unless it is stored with this very text. */
  holdResult(result: SettledCall): void {
    if (this.stored.get(result.callId) !== result.text) this.results.set(result.callId, result);
  }

  /** Takes note of a result that an earlier run stored. */
  noteStored({ callId, text }: SettledCall): void {
    this.stored.set(callId, text);
  }

  holdMessage(message: ModelMessage): void {
    this.messages.push(message);
  }

  /** Barrier 1, with everything that is held. */
  async prepare(request: Omit<RequestBarrier, keyof Unrecorded>): Promise<PreparedInput> {
    const stop = this.checkHandOver();
    if (stop !== null) return { stop };
    try {
      const reply = await this.journal.prepareRequest({ ...request, ...this.unrecorded });
      if (reply.status !== 'committed') return { stop: refusal(reply) };
      this.clear();
      this.leadPending = false;
      return { input: reply.input };
    } catch (error) {
      return { stop: persistenceError(error) };
    }
  }

  /** Stores a summary, with everything that is held; only then may history change. */
  async compact(compaction: Omit<CompactionBarrier, keyof Unrecorded>): Promise<LoopStop | null> {
    const handOver = this.checkHandOver();
    if (handOver !== null) return handOver;
    try {
      const stop = this.note(await this.journal.compact({ ...compaction, ...this.unrecorded }));
      if (stop === null) this.clear();
      return stop;
    } catch (error) {
      return persistenceError(error);
    }
  }

  /** Barrier 3 for calls that are about to run, with the held response or the held results. */
  intend(callIds: readonly string[]): Promise<LoopStop | null> {
    this.last = this.last.then(() => this.checkHandOver() ?? this.commit(callIds));
    return this.last;
  }

  /** Stores the held response or the held results now. */
  flush(): Promise<LoopStop | null> {
    return this.intend([]);
  }

  /** Commits nothing, to hear whether the run may go on and whether a Lead waits: it begins behind its last barrier. */
  confirm(): Promise<LoopStop | null> {
    this.last = this.last.then(() => this.checkHandOver() ?? this.recordCalls([], []));
    return this.last;
  }

  checkHandOver(): LoopStop | null {
    return this.handOver?.aborted === true ? { reason: 'handed_over' } : null;
  }

  private async commit(intents: readonly string[]): Promise<LoopStop | null> {
    const { response } = this;
    const results = [...this.results.values()];
    if (response === null && results.length === 0 && intents.length === 0) return null;
    try {
      if (response !== null) {
        const stop = this.note(await this.journal.sealResponse(response, results.length === 0 ? intents : []));
        if (stop !== null) return stop;
        this.response = null;
        if (results.length === 0) return null;
      }
    } catch (error) {
      return persistenceError(error);
    }
    return this.recordCalls(results, intents);
  }

  private async recordCalls(results: readonly SettledCall[], intents: readonly string[]): Promise<LoopStop | null> {
    try {
      const stop = this.note(await this.journal.recordCalls({ results, intents }));
      if (stop === null) this.release(results);
      return stop;
    } catch (error) {
      return persistenceError(error);
    }
  }

  private release(recorded: readonly SettledCall[]): void {
    for (const result of recorded) {
      this.noteStored(result);
      if (this.results.get(result.callId) === result) this.results.delete(result.callId);
    }
  }

  private note(reply: BarrierReply): LoopStop | null {
    if (reply.status !== 'committed') return refusal(reply);
    this.leadPending ||= reply.leadPending;
    return null;
  }

  private clear(): void {
    this.response = null;
    this.results.clear();
    this.stored.clear();
    this.messages = [];
  }
}

function refusal(reply: { readonly status: 'lost' | 'stopped' }): LoopStop {
  if (reply.status === 'stopped') return { reason: 'cancelled', by: 'stop' };
  return { reason: 'error', kind: 'lease_lost', message: 'another worker owns the session' };
}

export function persistenceError(error: unknown): LoopStop {
  const message = error instanceof Error ? error.message : 'a barrier failed';
  return { reason: 'error', kind: 'persistence', message };
}
