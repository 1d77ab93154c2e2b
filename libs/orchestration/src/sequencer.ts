/** Gives committed events their positions and sends them to the bus (K15). Any process may run it: the lock orders them. */
import type { DurableEvent, EventType } from '@echelon/contracts';
import type { EventBus } from '@echelon/messaging';
import { type Database, lockSequencer, stampEvents, type StampedEvent } from '@echelon/persistence';
import { eventTopic } from './event-topics.js';

const COALESCE_MS = 5;
const BATCH = 500;

export class Sequencer {
  #timer: NodeJS.Timeout | null = null;
  #running: Promise<void> | null = null;
  #again = false;
  #closed = false;

  constructor(
    private readonly database: Database,
    private readonly bus: EventBus,
    private readonly onError: (error: unknown) => void,
  ) {}

  /** Something was committed: stamps within a few milliseconds, many commits in one batch. */
  readonly nudge = (): void => {
    if (this.#closed) return;
    if (this.#running) this.#again = true;
    else this.#timer ??= setTimeout(() => this.#start(), COALESCE_MS);
  };

  /** Stamps all that is committed; the sweep calls it for what a crash left. Returns how many were stamped. */
  async stampAll(): Promise<number> {
    let total = 0;
    for (;;) {
      const stamped = await this.database.transaction(async (tx) => {
        await lockSequencer(tx);
        return stampEvents(tx, BATCH);
      });
      if (stamped.length > 0)
        this.bus.publish(
          stamped.map((event) => ({ topic: eventTopic(event.workspace_id), payload: JSON.stringify(toDurableEvent(event)) })),
        );
      total += stamped.length;
      if (stamped.length < BATCH) return total;
    }
  }

  /** Stamps what is left, then takes no more. */
  async close(): Promise<void> {
    this.#closed = true;
    if (this.#timer) clearTimeout(this.#timer);
    await this.#running;
    await this.stampAll();
  }

  #start(): void {
    this.#timer = null;
    this.#running = this.#run().finally(() => {
      this.#running = null;
      if (this.#again) this.nudge();
    });
  }

  async #run(): Promise<void> {
    this.#again = false;
    await this.stampAll().catch(this.onError);
  }
}

/** A stamped row as clients see it. */
export function toDurableEvent(row: StampedEvent): DurableEvent {
  return {
    position: row.position,
    type: row.type as EventType,
    workspace_id: row.workspace_id,
    task_id: row.task_id,
    session_id: row.session_id,
    at: row.created_at.toISOString(),
    data: JSON.parse(row.payload) as DurableEvent['data'],
  };
}
