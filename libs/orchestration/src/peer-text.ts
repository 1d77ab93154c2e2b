/**
 * Other people's words inside a text that the backend writes.
 *
 * P1  A quoted line begins with "> ", whatever its content: no peer can write a line that looks like ours (V5, D7).
 * P2  The markers of the hidden section cannot be opened or closed from inside any text that is not ours (D7).
 */
import { canonicalText } from '@echelon/domain';

/** Name of the tag around the part of a prompt that is the backend's own. */
export const HIDDEN_SECTION = 'echelon-system';

const LINE_BREAK = /\r\n|[\n\r\v\f\u0085\u2028\u2029]/u;
const MARKER = new RegExp(`<(?=[\\s/]*${HIDDEN_SECTION})`, 'giu');

/** Canonical text that cannot open or close the hidden section: a marker's bracket becomes a look-alike that is none. */
export function withoutMarkers(text: string): string {
  return canonicalText(text).replace(MARKER, '‹');
}

/** A peer's words, each line behind "> ". */
export function quote(words: string, indent = ''): string {
  return withoutMarkers(words)
    .split(LINE_BREAK)
    .map((line) => `${indent}> ${line}`.trimEnd())
    .join('\n');
}

/** A peer's short words inside a line of ours: one line, in quotation marks that they cannot close. */
export function quoteInline(words: string): string {
  const line = withoutMarkers(words).split(LINE_BREAK).join(' ').replaceAll('"', '”').trim();
  return `"${line}"`;
}
