/** What may cut a wait or a stream short. Several signals become one, and the first to abort is remembered. */
export interface CutSignals {
  /** The loop's own signal: cancelled. */
  readonly loop: AbortSignal;
  /** The process ends: handed over. */
  readonly handOver?: AbortSignal | undefined;
  /** Some other signal merged in: the round ends as if the model had made no calls. */
  readonly merged?: AbortSignal | undefined;
}

export type CutBy = keyof CutSignals;

export interface Cut extends Disposable {
  /** Aborts with the first signal, or by `stop`. */
  readonly signal: AbortSignal;
  /** Which signal cut; `null` while none did. */
  readonly by: CutBy | null;
  stop(): void;
}

const ORDER: readonly CutBy[] = ['loop', 'handOver', 'merged'];

/** Listens to the signals until disposed. */
export function openCut(signals: CutSignals): Cut {
  const controller = new AbortController();
  const abort = (): void => controller.abort();
  const sources = ORDER.flatMap((name) => signals[name] ?? []);
  for (const source of sources) source.addEventListener('abort', abort, { once: true });
  const by = (): CutBy | null => ORDER.find((name) => signals[name]?.aborted) ?? null;
  if (by() !== null) abort();
  return {
    signal: controller.signal,
    get by() {
      return by();
    },
    // A given reason saves the error object that an abort makes by itself; this runs once per request.
    stop: () => controller.abort('ended'),
    [Symbol.dispose]() {
      for (const source of sources) source.removeEventListener('abort', abort);
    },
  };
}
