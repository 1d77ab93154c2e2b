/**
 * Runs the likely next prompt ahead, on an overlay of the session's folder (agent-loop.md §1).
 *
 * P1  Until it is taken over nothing of it is seen: not in the folder, not in the session's records, not in its history.
 * P2  It is the one loop with the policies of a run ahead; it ends at the first call that somebody would be asked about, or whose
 *     result might differ on a copy, and has neither question tools nor subagents (D9).
 * P3  What is taken over is what a run now would have stored, shown and changed. Whatever might make a difference (another prompt,
 *     a record, waiting input, a changed folder) throws it away.
 */
import {
  createToolRegistry,
  type LoopCounters,
  type LoopLimits,
  type LoopResult,
  type LoopStop,
  type ModelMessage,
  persistenceError,
  runLoop,
  type TextPart,
} from '@echelon/agent-loop';
import { createWorkspaceTools } from '@echelon/workspace-tools';
import { createSessionPermissions } from '../session-permissions.js';
import type { SessionInbox } from '../session-inbox.js';
import type { SessionLog } from '../session-log.js';
import { buildSessionPrompt } from '../session-prompt.js';
import type { SessionSettings } from '../session-settings.js';
import type { OpenTurn } from '../session-state.js';
import type { SessionContext } from '../session-tool.js';
import { nameArtifact, policyOf, stopPoliciesOf, type TurnSurface } from '../session-turn.js';
import { AheadRecords } from './ahead-records.js';
import type { FileChange } from './apply-changes.js';
import { Overlay } from './overlay.js';
import type { OverlayRefusalReason } from './overlay-refusal.js';
import { predictPrompt } from './predict-prompt.js';
import { type AheadFacts, onOverlay, readAheadFacts, stopAtAsking } from './run-ahead.js';
import { SPECULATION_STOPS } from './speculation-stops.js';

const ROUNDS = 20;
const BUDGETS = { launches: 100, wallTimeMs: 5 * 60_000 };
/** The share of the model's window past which nothing is run ahead: a run ahead compacts nothing. */
const WINDOW = 0.5;
const DEFAULT_WINDOW = 128_000;

/** What the next turn's surface says beforehand. */
export type AheadSurface = Pick<TurnSurface, 'signal' | 'approve' | 'limits' | 'stopPolicies' | 'keepsToTodos'>;

export interface SpeculationFacts {
  readonly log: SessionLog;
  readonly folder: string;
  readonly overlays: string;
  readonly settings: SessionSettings;
  readonly surface: AheadSurface;
  /** The turn that would be next. */
  readonly turn: OpenTurn;
  readonly counters: LoopCounters;
  /** What a person says meanwhile is part of the next turn, which nobody knew. */
  readonly inbox: Pick<SessionInbox, 'pending'>;
}

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

interface RanAhead {
  readonly overlay: Overlay;
  readonly records: AheadRecords;
  readonly ended: LoopResult;
}

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
    try {
      return (await this.store(ran)) ? ran : null;
    } catch (error) {
      return { ...ran, ended: { ...ran.ended, stop: persistenceError(error) } };
    }
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

  private async store({ overlay, records: { records, artifacts } }: RanAhead): Promise<boolean> {
    const { log } = this.facts;
    const begun = records.findIndex(({ type }) => type === 'intents') + 1 || records.length;
    const accepted = await overlay.accept(() => {
      for (const [callId, text] of artifacts) log.storeArtifact(callId, text);
      log.append(records.slice(0, begun));
    });
    if (accepted) log.append(records.slice(begun));
    return accepted;
  }

  private async run(suggest: (prompt: string | null) => void): Promise<SpeculationResult> {
    const prompt = await this.predict();
    if (prompt === null) return this.signal.aborted ? THROWN_AWAY : { status: 'none', reason: 'nothing_likely' };
    this.suggested = prompt;
    suggest(prompt);
    const { folder, overlays } = this.facts;
    const overlay = await Overlay.open({ folder, overlays, signal: this.signal });
    if ('refused' in overlay) return { status: 'none', reason: overlay.refused };
    this.overlay = overlay;
    const ran = await this.runOn(overlay, prompt);
    const { stop } = ran.ended;
    if (this.signal.aborted) return THROWN_AWAY;
    if (SPECULATION_STOPS[stop.reason] === 'nothing') return { status: 'none', reason: 'stopped', stop };
    this.ran = ran;
    return { status: 'ready', prompt, messages: ran.records.messages, files: await overlay.changes(), stop };
  }

  private predict(): Promise<string | null> {
    const { log, folder, settings, turn } = this.facts;
    return predictPrompt({
      models: settings.models,
      system: this.system,
      tools: createToolRegistry(createWorkspaceTools<SessionContext>()),
      context: contextOf(folder),
      history: [...log.state.history],
      promptId: turn.promptId,
      signal: this.signal,
      limits: { tokenLimit: this.tokenLimit },
    });
  }

  private async runOn(overlay: Overlay, prompt: string): Promise<RanAhead> {
    const { log, settings, surface, turn, counters } = this.facts;
    const records = new AheadRecords(turn);
    const ahead = await readAheadFacts(overlay);
    const { history, compacted, replaced } = log.state;
    const opening = { parts: [{ type: 'text', text: prompt }], sendType: 'user' } as const;
    const ended = await runLoop<SessionContext>({
      start: { opening, history: [...history], counters, compacted, replaced: [...replaced] },
      models: settings.models,
      system: this.system,
      tools: createToolRegistry(onOverlay(createWorkspaceTools<SessionContext>(), ahead)),
      context: contextOf(overlay.root),
      turn: `t${turn.number}`,
      promptId: turn.promptId,
      signal: this.signal,
      handOver: this.handOver.signal,
      journal: records.journal,
      artifacts: records.artifactStore((callId) => nameArtifact(log.id, callId)),
      policies: { permissions: this.permissions(ahead) },
      stopPolicies: stopPoliciesOf(log, settings, surface),
      onEvent: (event) => records.show(event),
      limits: this.limits,
    });
    const { stop } = ended;
    const end = SPECULATION_STOPS[stop.reason] === 'turn' ? { reason: stop.reason, counters: ended.counters } : null;
    records.finish(ended.unrecorded, end);
    return { overlay, records, ended };
  }

  private permissions(ahead: AheadFacts): ReturnType<typeof stopAtAsking> {
    const { log, settings, surface } = this.facts;
    const permissions = createSessionPermissions<SessionContext>({
      policy: policyOf(log, settings),
      isGranted: (grant) => log.state.grants.has(grant),
      keepGrant: () => undefined,
      approve: surface.approve,
    });
    return stopAtAsking(permissions, ahead);
  }

  private get system(): string {
    const { folder, settings } = this.facts;
    return buildSessionPrompt({ folder, instructions: settings.instructions });
  }

  private get limits(): LoopLimits {
    const { limits = {} } = this.facts.surface;
    return {
      ...limits,
      maxRounds: ROUNDS,
      tokenLimit: Math.min(this.tokenLimit, limits.tokenLimit ?? Infinity),
      budgets: { ...BUDGETS, ...limits.budgets },
    };
  }

  private get tokenLimit(): number {
    return WINDOW * Math.min(...this.facts.settings.models.map(({ contextWindow = DEFAULT_WINDOW }) => contextWindow));
  }

  private toFailure(error: unknown): SpeculationResult {
    return this.signal.aborted ? THROWN_AWAY : { status: 'none', reason: 'failed', error };
  }
}

const THROWN_AWAY: SpeculationResult = { status: 'none', reason: 'thrown_away' };

/** No death of this process leaves a command behind, so none is recorded. */
function contextOf(root: string): SessionContext {
  return { workspace: { root }, recordProcess: () => undefined };
}
