/** The one owner of the question whether a turn goes on after a call-free response (agent-loop.md §6). */
import type { EventSink } from './loop-events.js';
import type { LoopHooks, StopPolicy } from './loop-input.js';
import type { ModelResponse } from './response.js';

/** How often a stop hook may block, per prompt. */
const STOP_HOOK_CAP = 8;

export interface StopPointInput {
  readonly response: ModelResponse;
  readonly stopHook: LoopHooks<never>['stop'];
  readonly policies: readonly StopPolicy[];
  /** Blocks of this prompt so far. */
  readonly blocks: number;
  readonly emit: EventSink;
}

export type StopPointDecision =
  | { readonly decision: 'end' }
  /** `byHook`: it counts as a block of the stop hook. */
  | { readonly decision: 'continue'; readonly text: string; readonly byHook: boolean };

/** Stop hook, then policies in order, then the end. A pending Lead was looked at before. */
export async function decideStopPoint(input: StopPointInput): Promise<StopPointDecision> {
  const blocked = (await input.stopHook?.(input.response)) ?? null;
  if (blocked !== null) return decideBlocked(input, blocked.block);
  for (const policy of input.policies) {
    const wish = await policy.decide(input.response);
    if (wish !== null) return { decision: 'continue', text: wish.continueWith, byHook: false };
  }
  return { decision: 'end' };
}

function decideBlocked({ policies, blocks, emit }: StopPointInput, text: string): StopPointDecision {
  emit({ type: 'hook_message', hook: 'stop', text });
  if (blocks >= STOP_HOOK_CAP) {
    for (const policy of policies) policy.onStopHookCap?.();
    return { decision: 'end' };
  }
  if (blocks > 0) emit({ type: 'stop_hook_loop', blocks: blocks + 1 });
  return { decision: 'continue', text, byHook: true };
}
