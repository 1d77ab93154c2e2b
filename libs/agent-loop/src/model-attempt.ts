import type { LoopClock } from './clock.js';
import type { Cut, CutBy } from './cut.js';
import type { ModelClient, ModelEvent, ModelFailure, ModelRequest } from './model-port.js';
import { ResponseCollector } from './response.js';

export interface AttemptInput {
  readonly client: ModelClient;
  readonly request: ModelRequest;
  readonly cut: Cut;
  readonly clock: LoopClock;
  readonly idleMs: number;
  /** Sees every event before it is acted on. */
  readonly emit: (event: ModelEvent) => void;
}

export type AttemptEnd =
  | { readonly end: 'finished' }
  /** The stream just ended. */
  | { readonly end: 'closed' }
  | { readonly end: 'failed'; readonly failure: ModelFailure }
  | { readonly end: 'cut'; readonly by: CutBy };

export interface Attempt {
  readonly end: AttemptEnd;
  readonly collected: ResponseCollector;
}

/**
 * Sends one request and reads its stream to the end: the only caller of `ModelClient.stream`.
 * It does not wait for a client that ignores its signal; events after the end are dropped.
 */
export async function streamAttempt(input: AttemptInput): Promise<Attempt> {
  const reading = new Reading(input);
  if (input.cut.by === null) await reading.run();
  return { end: reading.end(), collected: reading.collected };
}

class Reading {
  readonly collected = new ResponseCollector();
  private readonly over = Promise.withResolvers<void>();
  private readonly controller = new AbortController();
  private closed = false;
  private idle = false;
  private lastEventAt = 0;
  private endWatch: (() => void) | null = null;

  constructor(private readonly input: AttemptInput) {}

  /** Reads until the stream ends, the run is cut, or the stream is silent for too long. */
  async run(): Promise<void> {
    const release = this.input.cut.onCut(() => this.abort());
    void this.read();
    await this.over.promise;
    this.closed = true;
    release();
    this.endWatch?.();
  }

  end(): AttemptEnd {
    const { failure, finish } = this.collected;
    if (finish !== null) return { end: 'finished' };
    const { by } = this.input.cut;
    if (by !== null) return { end: 'cut', by };
    if (this.idle) return { end: 'failed', failure: idleFailure(this.input.idleMs) };
    return failure === null ? { end: 'closed' } : { end: 'failed', failure };
  }

  private async read(): Promise<void> {
    const { client, request } = this.input;
    try {
      for await (const event of client.stream(request, { signal: this.controller.signal })) {
        if (this.closed) return;
        this.take(event);
        if (event.type === 'error') break;
      }
    } catch (error) {
      this.collected.failure ??= failureOf(error);
    }
    this.over.resolve();
  }

  private take(event: ModelEvent): void {
    this.input.emit(event);
    // What follows a finish cannot take the finished response back.
    if (event.type === 'error' && this.collected.finish !== null) return;
    this.collected.add(event);
    if (!this.collected.emitted) return;
    this.lastEventAt = this.input.clock.now();
    if (this.endWatch === null) this.watch(this.input.idleMs);
  }

  /** One timer at a time: it is set again for what is left of the silence instead of on every event. */
  private watch(milliseconds: number): void {
    const { clock, idleMs } = this.input;
    this.endWatch = clock.after(milliseconds, () => {
      const silent = clock.now() - this.lastEventAt;
      if (silent < idleMs) return this.watch(idleMs - silent);
      this.idle = true;
      this.abort();
    });
  }

  private abort(): void {
    this.controller.abort();
    this.over.resolve();
  }
}

function failureOf(error: unknown): ModelFailure {
  const message = error instanceof Error ? error.message : 'the model client threw';
  return { kind: 'protocol', message, status: null, retryAfterMs: null, retryable: false };
}

function idleFailure(idleMs: number): ModelFailure {
  const message = `no event for ${idleMs / 1_000} s in the middle of a response`;
  return { kind: 'timeout', message, status: null, retryAfterMs: null, retryable: true };
}
