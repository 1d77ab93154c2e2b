/**
 * Other agents' words inside a text that the backend writes. What is ours is marked by not being quoted:
 *
 * P1  A quoted line begins with "> ", whatever its content: no peer can write, open or close a line that looks like ours (V5, D7).
 * P2  Words inside a line of ours are one line, in quotation marks that they cannot close.
 */
import { canonicalText } from '@echelon/domain';

const LINE_BREAK = /\r\n|[\n\r\v\f\u0085\u2028\u2029]/u;

/** A peer's words, each line behind "> ". */
export function quote(words: string, indent = ''): string {
  return linesOf(words)
    .map((line) => `${indent}> ${line}`.trimEnd())
    .join('\n');
}

/** A peer's short words inside a line of ours. */
export function quoteInline(words: string): string {
  const line = linesOf(words).join(' ').replaceAll('"', '”').trim();
  return `"${line}"`;
}

function linesOf(words: string): string[] {
  return canonicalText(words).split(LINE_BREAK);
}
