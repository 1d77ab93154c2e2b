import { type LoopClock, type LoopLimits, systemClock } from '@echelon/agent-loop';

/**
 * The limits of subagents of a turn, of every level: the budgets of its agent, with what is left of its time when one of them starts. Caps
 * on rounds and tokens of a conversation are the agent's own. `usedMs`: what the turn has used when this is called.
 */
export function createSubagentLimits(
  { budgets = {}, arguments: forArguments }: LoopLimits,
  usedMs: number,
  clock: Pick<LoopClock, 'now'> = systemClock,
): () => LoopLimits {
  const { wallTimeMs, ...others } = budgets;
  const startedAt = clock.now();
  const left = (whole: number): number => Math.max(0, whole - usedMs - (clock.now() - startedAt));
  return () => ({
    budgets: { ...others, ...(wallTimeMs === undefined ? {} : { wallTimeMs: left(wallTimeMs) }) },
    ...(forArguments === undefined ? {} : { arguments: forArguments }),
  });
}
