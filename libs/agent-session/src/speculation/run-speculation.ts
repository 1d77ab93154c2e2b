/** The two runs of the loop that a speculation is made of: the question for the next prompt, and the prompt on the overlay. */
import { createToolRegistry, type LoopCounters, type LoopInput, type LoopLimits, type LoopResult, runLoop } from '@echelon/agent-loop';
import { createWorkspaceTools } from '@echelon/workspace-tools';
import type { SessionInbox } from '../session-inbox.js';
import type { SessionLog } from '../session-log.js';
import { createSessionPermissions } from '../session-permissions.js';
import { buildSessionPrompt } from '../session-prompt.js';
import type { SessionSettings } from '../session-settings.js';
import type { OpenTurn } from '../session-state.js';
import type { SessionContext } from '../session-tool.js';
import { nameArtifact, policyOf, stopPoliciesOf, type TurnSurface } from '../session-turn.js';
import { AheadRecords } from './ahead-records.js';
import type { Overlay } from './overlay.js';
import { predictPrompt } from './predict-prompt.js';
import { onOverlay, readAheadFacts, stopAtAsking } from './run-ahead.js';
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

export interface RanAhead {
  readonly overlay: Overlay;
  readonly records: AheadRecords;
  readonly ended: LoopResult;
}

type Run = Pick<LoopInput<SessionContext>, 'models' | 'system' | 'promptId'>;

export function predictNext(facts: SpeculationFacts, signal: AbortSignal): Promise<string | null> {
  return predictPrompt({
    ...runOf(facts),
    tools: createToolRegistry(createWorkspaceTools<SessionContext>()),
    context: contextOf(facts.folder),
    history: [...facts.log.state.history],
    signal,
    limits: { tokenLimit: tokenLimitOf(facts.settings) },
  });
}

/** Runs a prompt on the overlay; `handOver` ends it at its next barrier. Nothing of the session changes. */
export async function runPromptAhead(
  facts: SpeculationFacts,
  overlay: Overlay,
  prompt: string,
  { signal, handOver }: { readonly signal: AbortSignal; readonly handOver: AbortSignal },
): Promise<RanAhead> {
  const { log, settings, surface, turn, counters } = facts;
  const { history, compacted, replaced } = log.state;
  const records = new AheadRecords(turn);
  const ahead = await readAheadFacts(overlay);
  const opening = { parts: [{ type: 'text', text: prompt }], sendType: 'user' } as const;
  const ended = await runLoop<SessionContext>({
    ...runOf(facts),
    start: { opening, history: [...history], counters, compacted, replaced: [...replaced] },
    tools: createToolRegistry(onOverlay(createWorkspaceTools<SessionContext>(), ahead)),
    context: contextOf(overlay.root),
    turn: `t${turn.number}`,
    signal,
    handOver,
    journal: records.journal,
    artifacts: records.artifactStore((callId) => nameArtifact(log.id, callId)),
    policies: { ...records.policies, permissions: stopAtAsking(permissionsOf(facts), ahead) },
    stopPolicies: stopPoliciesOf(log, settings, surface),
    onEvent: records.onEvent,
    limits: limitsOf(facts),
  });
  const { stop, unrecorded } = ended;
  const isWhole = SPECULATION_STOPS[stop.reason] === 'turn';
  records.finish(unrecorded, isWhole ? { reason: stop.reason, counters: ended.counters } : null);
  return { overlay, records, ended };
}

/** Byte for byte what the turn itself would say of its folder. */
function runOf({ folder, settings, turn }: SpeculationFacts): Run {
  const { models, instructions } = settings;
  return { models, system: buildSessionPrompt({ folder, instructions }), promptId: turn.promptId };
}

function permissionsOf({ log, folder, settings, surface }: SpeculationFacts): ReturnType<typeof createSessionPermissions<SessionContext>> {
  return createSessionPermissions<SessionContext>({
    folder,
    policy: policyOf(log, settings),
    isGranted: (grant) => log.state.grants.has(grant),
    keepGrant: () => undefined,
    approve: surface.approve,
  });
}

/** No death of this process leaves a command behind, so none is recorded. */
function contextOf(root: string): SessionContext {
  return { workspace: { root }, recordProcess: () => undefined };
}

function limitsOf({ settings, surface: { limits = {} } }: SpeculationFacts): LoopLimits {
  return {
    ...limits,
    maxRounds: ROUNDS,
    tokenLimit: Math.min(tokenLimitOf(settings), limits.tokenLimit ?? Infinity),
    budgets: { ...BUDGETS, ...limits.budgets },
  };
}

function tokenLimitOf({ models }: SessionSettings): number {
  return WINDOW * Math.min(...models.map(({ contextWindow = DEFAULT_WINDOW }) => contextWindow));
}
