/** What limits a run of a turn: what all runs of the turn use, or this one alone (`SessionSettings.limitsCount`). */
import { countLaunched, type LoopCounters, type LoopLimits, NEW_COUNTERS } from '@echelon/agent-loop';
import type { SessionSettings } from './session-settings.js';
import { knownCalls, type SessionState } from './session-state.js';

/** What a run that begins now finds used of its budgets; subagents of earlier runs are counted. */
export function usedBefore(
  { counters, subagents }: SessionState,
  { limitsCount }: Pick<SessionSettings, 'limitsCount'>,
): Pick<LoopCounters, 'tokens' | 'cost' | 'elapsedMs'> {
  if (limitsCount === 'process') return NEW_COUNTERS;
  return { tokens: counters.tokens + subagents.tokens, cost: counters.cost + subagents.cost, elapsedMs: counters.elapsedMs };
}

/** Limits as the loop compares them with the counters of the turn: where they are this run's, what earlier ones used comes on top. */
export function limitsOfRun(limits: LoopLimits, state: SessionState, { limitsCount }: Pick<SessionSettings, 'limitsCount'>): LoopLimits {
  const { budgets } = limits;
  if (limitsCount !== 'process' || budgets === undefined) return limits;
  const { counters } = state;
  const known = knownCalls(state);
  const { launches, wallTimeMs } = budgets;
  const launched = counters.launches + (known === undefined ? 0 : countLaunched(known));
  return {
    ...limits,
    budgets: {
      ...budgets,
      ...(launches === undefined ? {} : { launches: launches + launched }),
      ...(wallTimeMs === undefined ? {} : { wallTimeMs: wallTimeMs + counters.elapsedMs }),
    },
  };
}
