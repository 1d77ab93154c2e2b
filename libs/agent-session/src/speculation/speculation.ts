/**
 * Runs the likely next prompt ahead, on an overlay of the session's folder (agent-loop.md §1).
 *
 * P1  Until it is taken over nothing of it is seen: not in the folder, not in the session's records, not in its history.
 * P2  It is the one loop with the policies of a run ahead; it ends at the first call that somebody would be asked about, or whose
 *     result might differ on a copy, and has neither question tools nor subagents (D9).
 * P3  What is taken over is what a run now would have stored, shown and changed. Whatever might make a difference (another prompt,
 *     a record, waiting input, a changed folder) throws it away.
 */
import { type LoopStop, type ModelMessage, persistenceError, type TextPart } from '@echelon/agent-loop';
import type { FileChange } from './apply-changes.js';
import { Overlay } from './overlay.js';
import type { OverlayRefusalReason } from './overlay-refusal.js';
import { predictNext, type RanAhead, runPromptAhead, type SpeculationFacts } from './run-speculation.js';
import { SPECULATION_STOPS } from './speculation-stops.js';

export type SpeculationResult =
  /** `messages`: what the turn adds to the history, paired; `files`: what it changed on the overlay. */
  | {
      readonly status: 'ready';
      readonly prompt: string;
      readonly messages: readonly ModelMessage[];
      readonly files: readonly FileChange[];
      readonly stop: LoopStop;
    }
  | { readonly status: 'none'; readonly reason: 'nothing_likely' | 'thrown_away' | OverlayRefusalReason }
  /** It stopped in a way that nothing can be made of. */
  | { readonly status: 'none'; readonly reason: 'stopped'; readonly stop: LoopStop }
  | { readonly status: 'none'; readonly reason: 'failed'; readonly error: unknown };

export class Speculation {
  /** What the person will likely say, as soon as it is known; `null`: nothing is suggested. Never rejects. */
  readonly suggestion: Promise<string | null>;
  /** Never rejects. */
  readonly result: Promise<SpeculationResult>;
  private suggested: string | null = null;
  private readonly thrownAway = new AbortController();
  private readonly handOver = new AbortController();
  private readonly signal: AbortSignal;
  private readonly version: number;
  private overlay: Overlay | null = null;
  private ran: RanAhead | null = null;

  constructor(private readonly facts: SpeculationFacts) {
    this.version = facts.log.version;
    this.signal = AbortSignal.any([facts.surface.signal, this.thrownAway.signal]);
    const { promise, resolve } = Promise.withResolvers<string | null>();
    this.suggestion = promise;
    this.result = this.run(resolve)
      .catch((error: unknown) => this.toFailure(error))
      .finally(() => resolve(null));
  }

  /**
   * Makes the run ahead the session's own, when this is its prompt and nothing has changed since: stores its records, brings its files to
   * the folder, and returns how it ended with what it showed. `null`: nothing was stored or changed, and it is to be thrown away.
   * A death in between leaves an interrupted turn whose calls are unknown.
   */
  async accept(parts: readonly TextPart[], signal: AbortSignal): Promise<RanAhead | null> {
    const [part, ...more] = parts;
    if (this.suggested === null || more.length > 0 || part?.text !== this.suggested) return null;
    this.handOver.abort();
    const cancel = (): void => this.thrownAway.abort();
    signal.addEventListener('abort', cancel, { once: true });
    const result = await this.result.finally(() => signal.removeEventListener('abort', cancel));
    const { ran } = this;
    if (result.status === 'none' || ran === null || signal.aborted || !this.isCurrent) return null;
    return this.store(ran);
  }

  /** Ends it where it is and removes its overlay. Never rejects: what cannot be removed now is removed at the next start. */
  async discard(): Promise<void> {
    this.thrownAway.abort();
    await this.result;
    await this.overlay?.close().catch(() => undefined);
    this.overlay = null;
  }

  private get isCurrent(): boolean {
    const { log, inbox } = this.facts;
    return log.version === this.version && inbox.pending.length === 0;
  }

  /** Records up to the intents of the first calls that change something, files, the rest. What fails before the first of them is no reason to stop. */
  private async store(ran: RanAhead): Promise<RanAhead | null> {
    const { log } = this.facts;
    const { parts, artifacts } = ran.records;
    const [before, after] = parts;
    let begun = false;
    try {
      const accepted = await ran.overlay.accept(() => {
        for (const [callId, text] of artifacts) log.storeArtifact(callId, text);
        log.append(before);
        begun = true;
      });
      if (!accepted) return null;
      log.append(after);
      return ran;
    } catch (error) {
      return begun ? { ...ran, ended: { ...ran.ended, stop: persistenceError(error) } } : null;
    }
  }

  private async run(suggest: (prompt: string | null) => void): Promise<SpeculationResult> {
    const prompt = await predictNext(this.facts, this.signal);
    if (prompt === null) return this.signal.aborted ? THROWN_AWAY : { status: 'none', reason: 'nothing_likely' };
    this.suggested = prompt;
    suggest(prompt);
    const { folder, overlays } = this.facts;
    const overlay = await Overlay.open({ folder, overlays, signal: this.signal });
    if ('refused' in overlay) return { status: 'none', reason: overlay.refused };
    this.overlay = overlay;
    const ran = await runPromptAhead(this.facts, overlay, prompt, { signal: this.signal, handOver: this.handOver.signal });
    const { stop } = ran.ended;
    if (this.signal.aborted) return THROWN_AWAY;
    if (SPECULATION_STOPS[stop.reason] === 'nothing') return { status: 'none', reason: 'stopped', stop };
    this.ran = ran;
    return { status: 'ready', prompt, messages: ran.records.messages, files: await overlay.changes(), stop };
  }

  private toFailure(error: unknown): SpeculationResult {
    return this.signal.aborted ? THROWN_AWAY : { status: 'none', reason: 'failed', error };
  }
}

const THROWN_AWAY: SpeculationResult = { status: 'none', reason: 'thrown_away' };
