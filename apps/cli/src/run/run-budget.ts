import type { LoopLimits, LoopUse } from '@echelon/agent-loop';

/** What the turns of a run have spent of its budgets; a turn gets what is left. */
export class RunBudget {
  private spent = { launches: 0, tokens: 0, wallTimeMs: 0 };

  count({ launches, tokens, elapsedMs }: LoopUse): void {
    const { spent } = this;
    this.spent = { launches: spent.launches + launches, tokens: spent.tokens + tokens, wallTimeMs: spent.wallTimeMs + elapsedMs };
  }

  left({ budgets = {}, ...limits }: LoopLimits): LoopLimits {
    const { launches, tokens, wallTimeMs } = budgets;
    const { spent } = this;
    return {
      ...limits,
      budgets: {
        ...budgets,
        ...(launches === undefined ? {} : { launches: launches - spent.launches }),
        ...(tokens === undefined ? {} : { tokens: tokens - spent.tokens }),
        ...(wallTimeMs === undefined ? {} : { wallTimeMs: wallTimeMs - spent.wallTimeMs }),
      },
    };
  }
}
