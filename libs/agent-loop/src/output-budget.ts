/**
 * How much of a batch's output a model receives (agent-loop.md §5). Per result 25,000 characters and 1,000 lines; per batch 200,000
 * characters, shared by water-filling: small results stay whole, large ones are cut to one common length. A cut keeps the first fifth
 * and the last four fifths, and never splits a surrogate pair.
 */
export interface OutputBudget {
  readonly resultCharacters: number;
  readonly resultLines: number;
  readonly batchCharacters: number;
}

export const OUTPUT_BUDGET: OutputBudget = { resultCharacters: 25_000, resultLines: 1_000, batchCharacters: 200_000 };

/** Characters that each of `lengths` may keep: as they are, or the common length at which the sum reaches `total`. */
export function fillWater(lengths: readonly number[], total: number): number[] {
  const ascending = [...lengths].sort((one, other) => one - other);
  let left = total;
  let share = Infinity;
  for (const [at, length] of ascending.entries()) {
    const equal = Math.floor(left / (ascending.length - at));
    if (length > equal) {
      share = equal;
      break;
    }
    left -= length;
  }
  return lengths.map((length) => Math.min(length, share));
}

/** Whether a result is over its own limits, whatever its siblings need. */
export function exceedsResultBudget(text: string, budget: OutputBudget): boolean {
  return text.length > budget.resultCharacters || hasMoreLines(text, budget.resultLines);
}

export interface CutLimits {
  readonly characters: number;
  readonly lines: number;
}

/** Keeps the first fifth and the last four fifths of what the limits allow; `marker` stands between them and counts. */
export function cutText(text: string, limits: CutLimits, marker: string): string {
  const room = limits.characters - marker.length;
  if (room <= 0) return text.slice(0, endBefore(text, limits.characters));
  const lines = Math.max(0, limits.lines - 1);
  const head = Math.min(Math.floor(room / 5), endOfLines(text, Math.floor(lines / 5)));
  const tail = Math.max(text.length - (room - Math.floor(room / 5)), startOfLastLines(text, lines - Math.floor(lines / 5)));
  return `${text.slice(0, endBefore(text, head))}${marker}${text.slice(startAfter(text, tail))}`;
}

/** Where the first `count` lines end, without their last line break. */
function endOfLines(text: string, count: number): number {
  let at = -1;
  for (let line = 0; line < count; line++) {
    at = text.indexOf('\n', at + 1);
    if (at === -1) return text.length;
  }
  return Math.max(at, 0);
}

/** Where the last `count` lines begin. */
function startOfLastLines(text: string, count: number): number {
  let at = text.length;
  for (let line = 0; line < count; line++) {
    if (at === 0) return 0;
    at = text.lastIndexOf('\n', at - 1);
    if (at === -1) return 0;
  }
  return Math.min(at + 1, text.length);
}

function hasMoreLines(text: string, limit: number): boolean {
  let lines = 1;
  for (let at = text.indexOf('\n'); at !== -1; at = text.indexOf('\n', at + 1)) if (++lines > limit) return true;
  return false;
}

/** `at`, or one less where it would fall between the halves of a pair. */
function endBefore(text: string, at: number): number {
  return at > 0 && isLowSurrogate(text, at) && isHighSurrogate(text, at - 1) ? at - 1 : at;
}

function startAfter(text: string, at: number): number {
  return isLowSurrogate(text, at) && isHighSurrogate(text, at - 1) ? at + 1 : at;
}

function isHighSurrogate(text: string, at: number): boolean {
  return (text.charCodeAt(at) & 0xfc00) === 0xd800;
}

function isLowSurrogate(text: string, at: number): boolean {
  return (text.charCodeAt(at) & 0xfc00) === 0xdc00;
}
