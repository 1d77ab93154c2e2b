/**
 * Stores what an agent says and does while it does it, in order, each piece under the fence (K4).
 *
 * W1  Once a piece could not be written because the turn is to stop, it and all later ones wait for the settlement, which writes them.
 * W2  The prompt is round 0 of the turn, and the agent's messages are its rounds from 1 on.
 */
import { NEW_COUNTERS, type SealedResponse, type UnifiedFinishReason, type Usage } from '@echelon/agent-loop';
import type { Transactions, TurnJournal } from '@echelon/orchestration';
import type { Record } from './transcript.js';

type Unit = Parameters<Parameters<Transactions['run']>[0]>[0];

export interface PromptSeal {
  readonly reason: UnifiedFinishReason;
  readonly rawReason: string | null;
  readonly usage: Usage;
}

export interface RecordWriterOptions {
  readonly journal: TurnJournal;
  readonly model: string;
  /** The lease is lost, or the database could not be written to. */
  readonly onLost: () => void;
  readonly onStopped: () => void;
}

export const NO_USAGE: Usage = { inputTokens: null, outputTokens: null, cachedInputTokens: null, reasoningTokens: null };
const EMPTY = { response: null, results: [], messages: [] } as const;

export class RecordWriter {
  readonly #waiting: Record[] = [];
  #writing: Promise<void> = Promise.resolve();
  #stopped = false;
  #lost = false;
  #round = 0;
  #failure: unknown = null;

  constructor(private readonly options: RecordWriterOptions) {}

  /** What kept a piece from being written, where that was no fence. */
  get failure(): unknown {
    return this.#failure;
  }

  write(records: readonly Record[]): void {
    for (const record of records) this.#writing = this.#writing.then(() => this.#write(record));
  }

  /** Resolves when everything given so far is written, or waits for the settlement. */
  written(): Promise<void> {
    return this.#writing;
  }

  /** Writes in the settlement's transaction what waits for it, and how the prompt ended. */
  async settle(unit: Unit, { reason, rawReason, usage }: PromptSeal): Promise<void> {
    const { journal } = this.options;
    for (const record of this.#waiting) {
      if (record.kind === 'result') await journal.record(unit, { ...EMPTY, results: [record.result] });
      else await journal.record(unit, { ...EMPTY, response: this.#seal(record) });
    }
    await journal.record(unit, { ...EMPTY, response: { ...this.#response(0), reason, rawReason, usage } });
  }

  async #write(record: Record): Promise<void> {
    if (this.#lost) return;
    if (this.#stopped) return void this.#waiting.push(record);
    try {
      const { status } = await this.#send(record);
      if (status === 'committed') return;
      if (status === 'lost') return this.#lose();
      this.#stopped = true;
      this.#waiting.push(record);
      this.options.onStopped();
    } catch (error) {
      this.#failure = error;
      this.#lose();
    }
  }

  #send(record: Record) {
    const { journal } = this.options;
    if (record.kind === 'result') return journal.recordCalls({ results: [record.result], intents: [] });
    return journal.sealResponse(
      this.#seal(record),
      record.calls.map(({ callId }) => callId),
    );
  }

  #lose(): void {
    this.#lost = true;
    this.options.onLost();
  }

  #seal({ message, calls }: Extract<Record, { kind: 'message' }>): SealedResponse {
    this.#round += 1;
    return { ...this.#response(this.#round), message, calls, reason: calls.length > 0 ? 'tool_calls' : 'stop' };
  }

  #response(round: number): SealedResponse {
    return {
      round,
      model: this.options.model,
      message: null,
      calls: [],
      reason: 'other',
      rawReason: null,
      usage: NO_USAGE,
      complete: true,
      abandoned: [],
      counters: NEW_COUNTERS,
    };
  }
}
