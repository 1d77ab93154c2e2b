import type { LoopClock } from './clock.js';
import { openCut, type Cut, type CutBy, type CutSignals } from './cut.js';
import type { ModelClient, ModelEvent, ModelFailure, ModelRequest } from './model-port.js';
import { ResponseCollector } from './response.js';

export interface AttemptInput {
  readonly client: ModelClient;
  readonly request: ModelRequest;
  readonly signals: CutSignals;
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
  using cut = openCut(input.signals);
  const reading = new Reading(input, cut);
  if (cut.by === null) await Promise.race([reading.run(), aborted(cut.signal)]);
  return { end: reading.close(), collected: reading.collected };
}

class Reading {
  readonly collected = new ResponseCollector();
  private closed = false;
  private idle = false;
  private lastEventAt = 0;

  constructor(
    private readonly input: AttemptInput,
    private readonly cut: Cut,
  ) {}

  async run(): Promise<void> {
    const { client, request } = this.input;
    try {
      for await (const event of client.stream(request, { signal: this.cut.signal })) {
        if (this.closed) return;
        this.take(event);
        if (event.type === 'error') return;
      }
    } catch (error) {
      this.collected.failure ??= failureOf(error);
    }
  }

  close(): AttemptEnd {
    this.closed = true;
    const { by } = this.cut;
    this.cut.stop();
    if (this.collected.finish !== null) return { end: 'finished' };
    if (by !== null) return { end: 'cut', by };
    if (this.idle) return { end: 'failed', failure: idleFailure(this.input.idleMs) };
    return this.collected.failure === null ? { end: 'closed' } : { end: 'failed', failure: this.collected.failure };
  }

  private take(event: ModelEvent): void {
    this.input.emit(event);
    // What follows a finish cannot take the finished response back.
    if (event.type === 'error' && this.collected.finish !== null) return;
    const first = !this.collected.emitted;
    this.collected.add(event);
    this.lastEventAt = this.input.clock.now();
    if (first && this.collected.emitted) void this.watch();
  }

  /** Cuts the stream after a silence; sleeps for what is left of it instead of arming a timer per event. */
  private async watch(): Promise<void> {
    const { clock, idleMs } = this.input;
    while (!this.cut.signal.aborted) {
      const silent = clock.now() - this.lastEventAt;
      if (silent >= idleMs) {
        this.idle = true;
        return this.cut.stop();
      }
      await clock.sleep(idleMs - silent, this.cut.signal);
    }
  }
}

function aborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => signal.addEventListener('abort', () => resolve(), { once: true }));
}

function failureOf(error: unknown): ModelFailure {
  const message = error instanceof Error ? error.message : 'the model client threw';
  return { kind: 'protocol', message, status: null, retryAfterMs: null, retryable: false };
}

function idleFailure(idleMs: number): ModelFailure {
  const message = `no event for ${idleMs / 1_000} s in the middle of a response`;
  return { kind: 'timeout', message, status: null, retryAfterMs: null, retryable: true };
}
