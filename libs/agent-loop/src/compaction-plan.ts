/**
 * What a compaction takes out of a history and what it leaves (agent-loop.md §7). Pure: facts in, plan out.
 *
 * P1  The new history is the summary, then what is kept word for word, then the end of the history as it was.
 * P2  A cut never parts a call from its result.
 * P3  The opening of the turn and its Leads are kept word for word, once (L19): those before the cut follow the summary.
 * P4  An earlier compaction is folded in: its summary and what it kept count as anything else, and the cut never falls among them.
 */
import { estimateMessage, estimateMessages } from './context-window.js';
import type { ModelMessage } from './model-port.js';

/** The share of the window that stays as it was; a last exchange that is larger may have twice as much. */
const TAIL = 0.25;
const LARGE_TAIL = 0.5;
/** A compaction that frees less of the window than this is not worth its request. */
const WORTH = 0.1;

export interface CompactionFacts {
  readonly history: readonly ModelMessage[];
  /** Messages at the beginning that an earlier compaction put there. */
  readonly compacted: number;
  readonly instructions: ReadonlySet<ModelMessage>;
  /** Tokens of what every request carries beside the history. */
  readonly overhead: number;
  /** Tokens that the model reads and writes together. */
  readonly window: number;
  /** The request is impossible as it is, so that anything freed is worth it. */
  readonly must: boolean;
}

export interface CompactionPlan {
  /** What the summary stands in for, with the instructions among it. */
  readonly replaced: readonly ModelMessage[];
  /** The instructions among it. */
  readonly instructions: readonly ModelMessage[];
  /** How many messages at the end stay, those of results not counted. */
  readonly kept: number;
}

/** The plan, or `null` where no compaction makes the prompt fit or is worth it. */
export function planCompaction({ history, compacted, instructions, overhead, window, must }: CompactionFacts): CompactionPlan | null {
  const cut = findCut(history, compacted, window);
  if (cut <= compacted) return null;
  const replaced = history.slice(0, cut);
  const among = replaced.filter((message) => instructions.has(message));
  const stays = estimateMessages(among);
  const tail = history.slice(cut);
  if (overhead + stays + estimateMessages(tail) >= window) return null;
  if (!must && estimateMessages(replaced) - stays < WORTH * window) return null;
  return { replaced, instructions: among, kept: tail.filter((message) => message.role !== 'tool').length };
}

/** Where the end begins that stays: as many whole exchanges as have room, or none. */
function findCut(history: readonly ModelMessage[], compacted: number, window: number): number {
  let tokens = 0;
  let cut = history.length;
  for (let at = history.length - 1; at >= compacted; at--) {
    const message = history[at];
    if (message === undefined) break;
    tokens += estimateMessage(message);
    if (message.role === 'tool') continue;
    if (tokens > (cut === history.length ? LARGE_TAIL : TAIL) * window) break;
    cut = at;
  }
  return cut;
}

export interface CompactedHistory {
  readonly summary: ModelMessage;
  readonly instructions: readonly ModelMessage[];
  readonly kept: number;
}

/** The history that a compaction leaves; what rebuilds a history from a journal does the same. */
export function compactHistory(
  history: readonly ModelMessage[],
  { summary, instructions, kept }: CompactedHistory,
): readonly ModelMessage[] {
  let at = history.length;
  for (let left = kept; left > 0 && at > 0;) if (history[--at]?.role !== 'tool') left--;
  return [summary, ...instructions, ...history.slice(at)];
}
