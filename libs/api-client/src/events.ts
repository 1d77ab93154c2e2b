/**
 * Follows the event stream, over lost connections too.
 *
 * E1  After a break it resumes from the last position, so a durable event comes once and in order; live pieces may be missing.
 * E2  `reset` means that events may be missing: read again what you show, then go on.
 */
import type { DurableEvent, LiveEvent } from '@echelon/contracts';
import { readServerSentEvents, type ServerSentEvent } from './event-source.js';
import { ApiError, ConnectionError } from './problem.js';
import type { Transport } from './transport.js';

export type FollowedEvent =
  /** The stream stands, for the first time or again; everything that is read from now on is followed up. */
  | { readonly kind: 'open'; readonly cursor: string | null }
  | { readonly kind: 'durable'; readonly event: DurableEvent }
  | { readonly kind: 'live'; readonly event: LiveEvent }
  | { readonly kind: 'reset'; readonly cursor: string };

export interface FollowOptions {
  readonly workspace_id?: string;
  readonly task_id?: string;
  /** Position of the last event that you have; absent: from now on. */
  readonly after?: string;
  readonly signal?: AbortSignal;
  /** Waits between attempts, in milliseconds; the last one repeats. */
  readonly retryDelaysMs?: readonly number[];
}

const RETRY_DELAYS_MS = [100, 500, 1_000, 2_000, 5_000];
/** Refusals that pass by themselves. */
const PASSING = new Set(['SERVICE_UNAVAILABLE', 'SHUTTING_DOWN', 'RATE_LIMITED', 'INTERNAL']);

/** Iterates until the signal aborts, which ends it quietly; throws when the server refuses for good. */
export async function* followEvents(transport: Transport, options: FollowOptions): AsyncGenerator<FollowedEvent> {
  const delays = options.retryDelaysMs ?? RETRY_DELAYS_MS;
  let cursor = options.after ?? null;
  for (let failures = 0; !options.signal?.aborted; failures += 1) {
    try {
      for await (const event of openOnce(transport, options, cursor)) {
        failures = -1;
        if (event.lastEventId !== null) cursor = event.lastEventId;
        yield toFollowed(event);
      }
    } catch (error) {
      if (options.signal?.aborted) return;
      if (!isPassing(error)) throw error;
    }
    await pause(delays[Math.min(Math.max(failures, 0), delays.length - 1)] ?? 0, options.signal);
  }
}

async function* openOnce(transport: Transport, options: FollowOptions, cursor: string | null): AsyncGenerator<ServerSentEvent> {
  const response = await transport.open({
    method: 'GET',
    path: '/events',
    query: { workspace_id: options.workspace_id, task_id: options.task_id },
    headers: { accept: 'text/event-stream', ...(cursor === null ? {} : { 'last-event-id': cursor }) },
    signal: options.signal,
  });
  if (cursor !== null) yield { lastEventId: cursor, event: 'message', data: '' };
  if (response.body) yield* readUnbroken(response.body, response.url);
}

/** Whatever a body throws in mid-stream is a broken connection. */
async function* readUnbroken(body: ReadableStream<Uint8Array>, url: string): AsyncGenerator<ServerSentEvent> {
  const events = readServerSentEvents(body);
  try {
    for (;;) {
      const next = await events.next().catch((error: unknown) => Promise.reject(new ConnectionError(url, error)));
      if (next.done) return;
      yield next.value;
    }
  } finally {
    await events.return(undefined);
  }
}

function toFollowed({ event, data, lastEventId }: ServerSentEvent): FollowedEvent {
  if (data === '') return { kind: 'open', cursor: lastEventId };
  const value: unknown = JSON.parse(data);
  if (event === 'reset') return { kind: 'reset', cursor: (value as { cursor: string }).cursor };
  return event.includes('.') ? { kind: 'durable', event: value as DurableEvent } : { kind: 'live', event: value as LiveEvent };
}

function isPassing(error: unknown): boolean {
  return error instanceof ConnectionError || (error instanceof ApiError && PASSING.has(error.code));
}

function pause(ms: number, signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve) => {
    const done = () => {
      clearTimeout(timer);
      signal?.removeEventListener('abort', done);
      resolve();
    };
    const timer = setTimeout(done, ms);
    signal?.addEventListener('abort', done);
  });
}
