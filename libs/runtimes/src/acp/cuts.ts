import type { TurnSignals } from '@echelon/orchestration';
import type { Cut } from './turn-stop.js';

/** What may end a prompt before its agent does. The first counts, except that a lost lease goes before everything (K4). */
export class Cuts {
  readonly first: Promise<Cut>;
  readonly lost: Promise<void>;
  #at: Cut | null = null;
  readonly #resolve: (cut: Cut) => void;
  readonly #lose: () => void;
  readonly #timers: NodeJS.Timeout[] = [];
  readonly #closing = new AbortController();

  constructor(signals: TurnSignals, { handOverMs, wallMs }: { readonly handOverMs: number; readonly wallMs: number | null }) {
    const first = Promise.withResolvers<Cut>();
    const lost = Promise.withResolvers<void>();
    this.first = first.promise;
    this.lost = lost.promise;
    this.#resolve = first.resolve;
    this.#lose = lost.resolve;
    this.#on(signals.lost, () => this.cut('lost'));
    this.#on(signals.stop, () => this.cut('stopped'));
    this.#on(signals.handOver, () => this.cutIn('handed_over', handOverMs));
    if (wallMs !== null) this.cutIn('out_of_time', wallMs);
  }

  /** Why the prompt was ended; `null` while nothing has. */
  get at(): Cut | null {
    return this.#at;
  }

  cut(why: Cut): void {
    if (this.#at === null || why === 'lost') this.#at = why;
    this.#resolve(why);
    if (why === 'lost') this.#lose();
  }

  /** Cuts so many milliseconds from now, unless closed before. */
  cutIn(why: Cut, milliseconds: number): void {
    this.#timers.push(setTimeout(() => this.cut(why), milliseconds));
  }

  close(): void {
    this.#closing.abort();
    for (const timer of this.#timers) clearTimeout(timer);
  }

  #on(signal: AbortSignal, act: () => void): void {
    if (signal.aborted) act();
    else signal.addEventListener('abort', act, { once: true, signal: this.#closing.signal });
  }
}
