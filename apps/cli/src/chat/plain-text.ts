/** Text of models, tools and files as a terminal may show it. */
import { stripVTControlCharacters } from 'node:util';

const TAB = '  ';

/** Takes out everything that a terminal would obey instead of show. Of a line that was written over, the last text stays. */
export function toPlain(text: string): string {
  return stripVTControlCharacters(text)
    .replaceAll('\r\n', '\n')
    .replace(/[^\n\r]*\r(?=[^\n\r])/g, '')
    .replaceAll('\t', TAB)
    .replace(/[\p{Cc}\u202a-\u202e\u2066-\u2069]/gu, (character) => (character === '\n' ? character : ''));
}

export function toLine(text: string): string {
  return toPlain(text).replace(/\s+/g, ' ').trim();
}

export interface Tail {
  readonly text: string;
  /** Something stands before it. */
  readonly isCut: boolean;
}

/** The last lines as a window of this width would wrap them. */
export function tailOf(text: string, lines: number, columns: number): Tail {
  const width = Math.max(columns, 1);
  const all = text
    .trimEnd()
    .slice(-lines * width * 2)
    .split('\n');
  let left = lines;
  let at = all.length;
  while (at > 0 && left > 0) {
    left -= Math.max(1, Math.ceil((all[at - 1] ?? '').length / width));
    if (left >= 0) at--;
  }
  const kept = at === all.length ? (all.at(-1) ?? '').slice(-width * lines) : all.slice(at).join('\n');
  return { text: kept, isCut: kept.length < text.length };
}
