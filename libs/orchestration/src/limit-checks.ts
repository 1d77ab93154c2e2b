/** Values against the table of limits: a refusal names field, limit and actual size, never the value. */
import { type LimitName, type Limits, refuse, type Refusal } from '@echelon/domain';

const graphemes = new Intl.Segmenter('en', { granularity: 'grapheme' });

/** How many characters a person sees. */
function countGraphemes(text: string): number {
  return [...graphemes.segment(text)].length;
}

/** At most so many characters as a person sees them, from the start. */
export function takeGraphemes(text: string, count: number): string {
  let taken = 0;
  for (const { index } of graphemes.segment(text)) if (taken++ === count) return text.slice(0, index);
  return text;
}

export function checkBytes(limits: Limits, name: LimitName, field: string, text: string): Refusal | null {
  return exceed(limits[name], field, Buffer.byteLength(text, 'utf8'));
}

export function checkGraphemes(limits: Limits, name: LimitName, field: string, text: string): Refusal | null {
  return exceed(limits[name], field, countGraphemes(text));
}

function exceed(max: number, field: string, actual: number): Refusal | null {
  return actual > max ? refuse('LIMIT_EXCEEDED', { field, max, actual }) : null;
}
