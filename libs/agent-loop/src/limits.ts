import type { ArgumentLimits } from './argument-limits.js';
import type { Usage } from './model-port.js';
import type { Budget, LoopStop } from './stop-reason.js';

/** All optional and off by default: useful rounds are never cut off by their number (W1). */
export interface LoopLimits {
  /** Rounds of this run; past it the loop returns `next_round` with the unsent results. */
  readonly maxRounds?: number;
  /** Model rounds of the session (headless: of the run). 0 is a configuration error. */
  readonly turnCap?: number | null;
  /** Tokens of the last request and response together; checked before compaction. */
  readonly tokenLimit?: number;
  readonly budgets?: LoopBudgets;
  /** Of each tool call; one that is over them is an error result. */
  readonly arguments?: ArgumentLimits;
}

/** A tripped one ends the turn with `budget_exhausted`. */
export interface LoopBudgets {
  readonly rounds?: number;
  /** Launches of tools, failed ones too. */
  readonly launches?: number;
  readonly wallTimeMs?: number;
  /** Input and output tokens of all requests, those of the turn's subagents included (`LoopInput.spending`). */
  readonly tokens?: number;
  readonly cost?: { readonly limit: number; readonly price: (usage: Usage, model: string) => number };
}

/** What a turn has used; stored with its barriers, so that a resumed turn goes on counting. */
export interface LoopCounters {
  /** Responses of this turn. */
  readonly rounds: number;
  /** Responses of the session that count towards the turn cap. */
  readonly sessionRounds: number;
  readonly launches: number;
  readonly tokens: number;
  readonly cost: number;
  /** Milliseconds of earlier runs of this turn. */
  readonly elapsedMs: number;
  /** Tokens of the last request and response; 0 where nobody counted them, as after a compaction. */
  readonly contextTokens: number;
  /** Compactions in a row that came to nothing. */
  readonly failedCompactions: number;
  readonly stopHookBlocks: number;
  readonly toolFormatRetries: number;
  readonly outputContinuations: number;
  /** 1 once an output limit raised the turn to the model's ceiling. */
  readonly outputEscalations: number;
  /** Index of the model in use: a fallback stays for the turn. */
  readonly target: number;
}

export const NEW_COUNTERS: LoopCounters = {
  rounds: 0,
  sessionRounds: 0,
  launches: 0,
  tokens: 0,
  cost: 0,
  elapsedMs: 0,
  contextTokens: 0,
  failedCompactions: 0,
  stopHookBlocks: 0,
  toolFormatRetries: 0,
  outputContinuations: 0,
  outputEscalations: 0,
  target: 0,
};

/** The one turn-cap formula. */
function exceedsTurnCap(cap: number | null, count: number): boolean {
  return cap !== null && count > cap;
}

/** Why the next request may not go out, or `null`. `counts`: it counts towards the turn cap, which a retry does not. */
export function refuseRequest(limits: LoopLimits, counters: LoopCounters, counts: boolean): LoopStop | null {
  const cap = limits.turnCap ?? null;
  if (cap === 0)
    return { reason: 'error', kind: 'configuration', message: 'a turn cap of 0 would forbid every request; leave it out instead' };
  if (cap !== null && counts && exceedsTurnCap(cap, counters.sessionRounds + 1)) return { reason: 'turn_cap', cap };
  const budget = findSpentBudget(limits.budgets ?? {}, counters);
  if (budget !== null) return { reason: 'budget_exhausted', budget };
  const limit = limits.tokenLimit;
  if (limit !== undefined && counters.contextTokens >= limit) return { reason: 'token_limit', limit, used: counters.contextTokens };
  return null;
}

function findSpentBudget(budgets: LoopBudgets, counters: LoopCounters): Budget | null {
  if (counters.rounds >= (budgets.rounds ?? Infinity)) return 'rounds';
  if (counters.elapsedMs >= (budgets.wallTimeMs ?? Infinity)) return 'wall_time';
  if (counters.tokens >= (budgets.tokens ?? Infinity)) return 'tokens';
  if (counters.cost >= (budgets.cost?.limit ?? Infinity)) return 'cost';
  return null;
}
