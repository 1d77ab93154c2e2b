/**
 * The event streams of this process (K15).
 *
 * H1  One reader follows the events for all streams; each event is read and serialised once.
 * H2  A stream joins before it reads from its cursor, so nothing falls between reading and following.
 * H3  Without streams nothing is read.
 */
import { isRefusal } from '@echelon/domain';
import type { EventNotice, Logger, OperatorActor, ReadEventsResult, Services } from '@echelon/orchestration';
import { cursorFrame, durableFrame, type EventFrame, HEARTBEAT, liveFrame, resetFrame } from './event-frame.js';
import type { EventStream } from './event-stream.js';

const PAGE = 500;
/** The reader sees all workspaces; what a stream gets is filtered by what its own token may see and asked for. */
const READER: OperatorActor = { kind: 'operator', tokenId: 'event-hub', operatorId: 'event-hub', name: 'event-hub' };

export interface JoinOptions {
  readonly after: string | null;
  readonly workspaceId: string | null;
  readonly taskId: string | null;
}

export class EventHub {
  readonly #streams = new Set<EventStream>();
  #following: Promise<() => void> | null = null;
  #cursor = '';
  #reading: Promise<void> | null = null;
  #again = false;
  readonly #heartbeat: NodeJS.Timeout;

  constructor(
    private readonly events: Services['events'],
    private readonly logger: Logger,
    heartbeatMs: number,
  ) {
    this.#heartbeat = setInterval(() => this.#beat(), heartbeatMs);
  }

  get size(): number {
    return this.#streams.size;
  }

  /** Adds a stream: first what its cursor misses, then everything as it happens. */
  async join(stream: EventStream, options: JoinOptions): Promise<void> {
    this.#streams.add(stream);
    this.#following ??= this.#follow();
    await this.#following;
    if (options.after === null) stream.write(cursorFrame(this.#cursor));
    else await this.#catchUp(stream, options.after, options);
    stream.goLive();
  }

  /** Takes a stream out; the last one ends the reading. */
  leave(stream: EventStream): void {
    this.#streams.delete(stream);
    if (this.#streams.size === 0) this.#unfollow();
  }

  /** Ends every stream; clients resume elsewhere. */
  async close(): Promise<void> {
    clearInterval(this.#heartbeat);
    for (const stream of this.#streams) stream.end();
    this.#streams.clear();
    this.#unfollow();
    await this.#reading;
  }

  async #follow(): Promise<() => void> {
    try {
      const unsubscribe = this.events.subscribe((notice) => this.#hear(notice));
      this.#cursor = await this.events.head();
      return unsubscribe;
    } catch (error) {
      this.#following = null;
      throw error;
    }
  }

  #unfollow(): void {
    void this.#following?.then((unsubscribe) => unsubscribe());
    this.#following = null;
  }

  #hear(notice: EventNotice): void {
    if (notice.kind === 'live') return this.#sendLive(liveFrame(notice.event));
    if (this.#reading) this.#again = true;
    else this.#reading = this.#readOn().finally(() => (this.#reading = null));
  }

  async #readOn(): Promise<void> {
    try {
      do {
        this.#again = false;
        await this.#following;
        await this.#readToEnd(this.#following);
      } while (this.#again && this.#streams.size > 0);
    } catch (error) {
      this.logger.error({ error }, 'events.read_failed');
      for (const stream of this.#streams) stream.disconnect();
    }
  }

  /** Stops where the last stream left meanwhile: who joined since then follows from a later cursor. */
  async #readToEnd(following: Promise<() => void> | null): Promise<void> {
    for (;;) {
      const { events, cursor, reset } = await this.#read(this.#cursor, {});
      if (following !== this.#following) return;
      if (reset) for (const stream of this.#streams) stream.write(resetFrame(cursor));
      this.#cursor = cursor;
      this.#send(events.map(durableFrame));
      if (events.length < PAGE) return;
    }
  }

  async #catchUp(stream: EventStream, after: string, { workspaceId, taskId }: JoinOptions): Promise<void> {
    const scope = { ...(workspaceId ? { workspace_id: workspaceId } : {}), ...(taskId ? { task_id: taskId } : {}) };
    for (let from = after; !stream.closed;) {
      const { events, cursor, reset } = await this.#read(from, scope);
      if (reset) stream.write(resetFrame(cursor));
      stream.replay(events.map(durableFrame));
      await stream.drained();
      if (events.length < PAGE) return;
      from = cursor;
    }
  }

  async #read(after: string, scope: { readonly workspace_id?: string; readonly task_id?: string }): Promise<ReadEventsResult> {
    const read = await this.events.read(READER, { after, limit: PAGE, ...scope });
    if (isRefusal(read)) throw new Error(`events could not be read: ${read.code}`);
    return read;
  }

  #send(frames: readonly EventFrame[]): void {
    if (frames.length === 0) return;
    const chunks = new Map<string, Buffer>();
    for (const stream of this.#streams) {
      if (stream.catchingUp) stream.hold(frames);
      else stream.write(chunkFor(stream, frames, chunks));
    }
  }

  #sendLive(frame: EventFrame): void {
    for (const stream of this.#streams) if (!stream.catchingUp && stream.wants(frame)) stream.writeLive(frame.text);
  }

  #beat(): void {
    for (const stream of this.#streams) if (!stream.catchingUp) stream.write(HEARTBEAT);
  }
}

/** Streams with the same filter share one chunk. */
function chunkFor(stream: EventStream, frames: readonly EventFrame[], chunks: Map<string, Buffer>): Buffer {
  const known = chunks.get(stream.filterKey);
  if (known) return known;
  const wanted = frames.filter((frame) => stream.wants(frame));
  const chunk = Buffer.from(wanted.map(({ text }) => text).join(''));
  chunks.set(stream.filterKey, chunk);
  return chunk;
}
