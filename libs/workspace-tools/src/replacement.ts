/** Exact replacement in a text: pure. A place is found once or not at all; nothing is guessed. */
import { WORKSPACE_LIMITS } from './limits.js';

export interface Replacement {
  readonly oldText: string;
  readonly newText: string;
  readonly replaceAll: boolean;
}

export type ReplacementOutcome =
  | { readonly outcome: 'replaced'; readonly text: string; readonly count: number; readonly firstLine: number }
  | { readonly outcome: 'unchanged' | 'not_found' | 'too_large' }
  | { readonly outcome: 'only_whitespace_differs'; readonly line: number }
  /** `lines` are those of the first places. */
  | { readonly outcome: 'ambiguous'; readonly count: number; readonly lines: readonly number[] };

const NAMED_PLACES = 10;

/**
 * Replaces `oldText` in `text`. Models write LF: where `oldText` is not found as it stands and the text has CRLF, both sides are
 * taken with CRLF, so that a file keeps its line ends. Places that overlap are ambiguous too.
 */
export function replaceExactly(text: string, asked: Replacement): ReplacementOutcome {
  if (asked.oldText === asked.newText) return { outcome: 'unchanged' };
  const replacement = withLineEnds(text, asked);
  const { first, count } = findPlaces(text, replacement.oldText);
  const [place] = first;
  if (place === undefined) return explainMiss(text, asked.oldText);
  if (count > 1 && !asked.replaceAll) return { outcome: 'ambiguous', count, lines: first.map((each) => lineAt(text, each)) };
  return replaceAll(text, replacement, lineAt(text, place));
}

function withLineEnds(text: string, asked: Replacement): Replacement {
  if (text.includes(asked.oldText)) return insertsIntoCarriageReturns(text, asked) ? { ...asked, newText: toCrlf(asked.newText) } : asked;
  if (!text.includes('\r\n')) return asked;
  return { ...asked, oldText: toCrlf(asked.oldText), newText: toCrlf(asked.newText) };
}

/** A one-line `oldText` says nothing of line ends; a text that has only CRLF keeps having only CRLF. */
function insertsIntoCarriageReturns(text: string, { oldText, newText }: Replacement): boolean {
  return !oldText.includes('\n') && newText.includes('\n') && text.includes('\r\n') && !/(?<!\r)\n/.test(text);
}

function toCrlf(text: string): string {
  return text.replace(/\r?\n/g, '\r\n');
}

function replaceAll(text: string, { oldText, newText }: Replacement, firstLine: number): ReplacementOutcome {
  const pieces = text.split(oldText);
  const count = pieces.length - 1;
  if (text.length + count * (newText.length - oldText.length) > WORKSPACE_LIMITS.editFileBytes) return { outcome: 'too_large' };
  return { outcome: 'replaced', text: pieces.join(newText), count, firstLine };
}

/** Counts every place, overlapping ones included: `aa` stands twice in `aaa`. */
function findPlaces(text: string, wanted: string): { readonly first: readonly number[]; readonly count: number } {
  const first: number[] = [];
  let count = 0;
  for (let place = text.indexOf(wanted); place !== -1; place = text.indexOf(wanted, place + 1)) {
    count += 1;
    if (count <= NAMED_PLACES) first.push(place);
  }
  return { first, count };
}

function explainMiss(text: string, wanted: string): ReplacementOutcome {
  const lines = text.split('\n').map(withoutSpace);
  const sought = wanted.trim().split('\n').map(withoutSpace);
  if (sought.every((line) => line === '')) return { outcome: 'not_found' };
  const index = lines.findIndex((_, start) => sought.every((line, step) => lines[start + step] === line));
  return index === -1 ? { outcome: 'not_found' } : { outcome: 'only_whitespace_differs', line: index + 1 };
}

function withoutSpace(line: string): string {
  return line.replace(/\s+/g, '');
}

function lineAt(text: string, place: number): number {
  let line = 1;
  for (let at = text.indexOf('\n'); at !== -1 && at < place; at = text.indexOf('\n', at + 1)) line += 1;
  return line;
}
