/** One request under way: ends by the caller's signal or by time, and knows which of the two it was. */
import type { ModelFailure } from '@echelon/agent-loop';
import { classifyError, ownFailure } from './failure.js';

export class Attempt {
  private readonly controller = new AbortController();
  private readonly abort = () => this.controller.abort();
  private timer: NodeJS.Timeout;
  private timedOut = false;
  private finished = false;
  private ended = false;

  constructor(
    private readonly outer: AbortSignal,
    private readonly firstEventMs: number,
  ) {
    if (outer.aborted) this.abort();
    outer.addEventListener('abort', this.abort);
    this.timer = setTimeout(() => {
      this.timedOut = true;
      this.abort();
    }, firstEventMs);
  }

  /** Aborts when the caller aborts or time runs out. */
  get signal(): AbortSignal {
    return this.controller.signal;
  }

  /** The response is complete; whatever happens after it is no failure. */
  get isFinished(): boolean {
    return this.finished;
  }

  /** What is buffered of a stream is not given to a caller who has cancelled. */
  throwIfCancelled(): void {
    this.outer.throwIfAborted();
  }

  noticeEvent(): void {
    if (!this.finished) clearTimeout(this.timer);
  }

  /** The last event is here; the connection gets this many milliseconds to end by itself. */
  finish(milliseconds: number): void {
    this.finished = true;
    clearTimeout(this.timer);
    this.timer = setTimeout(this.abort, milliseconds);
  }

  /** The body was read to its end: nothing is left to abort, and an abort costs. */
  noticeEnd(): void {
    this.ended = true;
  }

  classify(error: unknown): ModelFailure {
    if (this.outer.aborted) return ownFailure('aborted', 'the request was cancelled');
    if (this.timedOut) return ownFailure('timeout', `the provider sent no event within ${this.firstEventMs} ms`);
    return classifyError(error, Date.now());
  }

  /** Ends the HTTP request if it has not ended. */
  close(): void {
    clearTimeout(this.timer);
    this.outer.removeEventListener('abort', this.abort);
    if (!this.ended) this.abort();
  }
}
