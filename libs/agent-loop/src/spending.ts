/** What the loops of one turn spend together: a subagent's tokens and cost count towards the budgets of the turn that started it. */
export class Spending {
  /** `tokens` and `cost`: what earlier runs of the turn spent. */
  constructor(
    private spentTokens = 0,
    private spentCost = 0,
  ) {}

  get tokens(): number {
    return this.spentTokens;
  }

  get cost(): number {
    return this.spentCost;
  }

  add(tokens: number, cost: number): void {
    this.spentTokens += tokens;
    this.spentCost += cost;
  }
}
