/** Fills the product's instruments from durable events: whichever process did the work, every server sees it (architecture.md §8). */
import { DurableEvent } from '@echelon/contracts';
import type { Platform } from '@echelon/platform';
import type { Metrics } from './metrics.js';

const EVENTS = 'event.*';

/** Observes for as long as the bus is open; what a broken connection hides is not counted. */
export async function observeEvents(bus: Platform['bus'], metrics: Metrics): Promise<void> {
  await bus.subscribe(EVENTS, {
    onEvent: ({ payload }) => observe(DurableEvent.parse(JSON.parse(payload)), metrics),
    onGap: () => undefined,
  });
}

function observe({ type, data }: DurableEvent, metrics: Metrics): void {
  switch (type) {
    case 'turn.started':
      return metrics.queueWait.observe(secondsOf(data['waited_ms']));
    case 'turn.finished':
      return metrics.turns.inc({ outcome: String(data['outcome']) });
    case 'turn.recovered':
      return metrics.recovery.observe(secondsOf(data['silent_ms']));
    case 'question.answered':
      if (data['waited_ms'] !== undefined) metrics.questionAnswer.observe(secondsOf(data['waited_ms']));
      return;
    case 'wake.lost':
      return metrics.wakesLost.inc();
    default:
      return;
  }
}

function secondsOf(milliseconds: unknown): number {
  return Number(milliseconds) / 1_000;
}
