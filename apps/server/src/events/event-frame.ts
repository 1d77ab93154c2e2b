/** Server-sent events as text: each is made once and written to every stream that wants it (benchmarks.md, lesson 9). */
import type { DurableEvent, LiveEvent } from '@echelon/contracts';

export interface EventFrame {
  /** Position of a durable event; `null` for a live one, which has no id and is never replayed (K15). */
  readonly position: bigint | null;
  readonly workspaceId: string;
  readonly taskId: string | null;
  readonly text: string;
}

export const HEARTBEAT = ': still here\n\n';

export function durableFrame(event: DurableEvent): EventFrame {
  return {
    position: BigInt(event.position),
    workspaceId: event.workspace_id,
    taskId: event.task_id,
    text: `id: ${event.position}\nevent: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`,
  };
}

export function liveFrame(event: LiveEvent): EventFrame {
  return {
    position: null,
    workspaceId: event.workspace_id,
    taskId: event.task_id,
    text: `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`,
  };
}

/** Gives a client the cursor to resume from, without an event. */
export function cursorFrame(cursor: string): string {
  return `id: ${cursor}\n\n`;
}

/** Tells a client that events may be missing: read everything again, then go on from `cursor`. */
export function resetFrame(cursor: string): string {
  return `id: ${cursor}\nevent: reset\ndata: ${JSON.stringify({ cursor })}\n\n`;
}
