/**
 * One client of the event stream.
 *
 * S1  While it catches up from its cursor, what the hub sends waits; then it is sent from where the catching up ended, nothing twice.
 * S2  A client that has not taken what was written before is disconnected, not buffered: it resumes from its cursor.
 */
import type { Response } from 'express';
import type { EventFrame } from './event-frame.js';

/** Frames that may wait while a client catches up; more, and it starts over. */
const MAX_WAITING = 10_000;
/** Live pieces are left out for a client that is this far behind; their text is in the durable message. */
const LIVE_BACKLOG_BYTES = 64 * 1024;

export interface EventFilter {
  readonly workspaceId: string | null;
  readonly taskId: string | null;
}

export class EventStream {
  readonly filterKey: string;
  #waiting: EventFrame[] | null = [];
  #last = -1n;

  constructor(
    private readonly response: Response,
    private readonly filter: EventFilter,
    private readonly maxBacklogBytes: number,
  ) {
    this.filterKey = `${filter.workspaceId ?? ''} ${filter.taskId ?? ''}`;
  }

  get closed(): boolean {
    return this.response.destroyed || this.response.writableEnded;
  }

  get catchingUp(): boolean {
    return this.#waiting !== null;
  }

  wants(frame: EventFrame): boolean {
    if (this.filter.workspaceId !== null && this.filter.workspaceId !== frame.workspaceId) return false;
    return this.filter.taskId === null || this.filter.taskId === frame.taskId;
  }

  /** What the hub sends while this client catches up. */
  hold(frames: readonly EventFrame[]): void {
    this.#waiting?.push(...frames.filter((frame) => frame.position !== null && this.wants(frame)));
    if (this.#waiting && this.#waiting.length > MAX_WAITING) this.disconnect();
  }

  /** Events read from the client's cursor. */
  replay(frames: readonly EventFrame[]): void {
    for (const { position } of frames) if (position !== null) this.#last = position;
    this.write(frames.map(({ text }) => text).join(''));
  }

  /** The client has everything up to `upTo`: sends what waited after it, and lets the hub write. */
  goLive(): void {
    const missed = (this.#waiting ?? []).filter(({ position }) => position !== null && position > this.#last);
    this.#waiting = null;
    this.write(missed.map(({ text }) => text).join(''));
  }

  write(chunk: string | Buffer): void {
    if (chunk.length === 0 || this.closed) return;
    if (this.response.writableLength > this.maxBacklogBytes) this.disconnect();
    else this.response.write(chunk);
  }

  /** Resolves when the client has taken what was written, or is gone. */
  async drained(): Promise<void> {
    if (this.closed || !this.response.writableNeedDrain) return;
    const { promise, resolve } = Promise.withResolvers<void>();
    for (const event of ['drain', 'close']) this.response.once(event, resolve);
    await promise;
    for (const event of ['drain', 'close']) this.response.off(event, resolve);
  }

  /** Writes a piece of a live stream, unless the client lags. */
  writeLive(text: string): void {
    if (this.response.writableLength <= LIVE_BACKLOG_BYTES) this.write(text);
  }

  /** Ends the stream in order. */
  end(): void {
    if (!this.closed) this.response.end();
  }

  disconnect(): void {
    this.response.destroy();
  }
}
