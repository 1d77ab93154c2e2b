/** A line that is being written, and what keys do to it. `at` is where the cursor stands, in UTF-16 units. */
export interface Draft {
  readonly text: string;
  readonly at: number;
}

export const EMPTY: Draft = { text: '', at: 0 };

export function draftOf(text: string): Draft {
  return { text, at: text.length };
}

export function insert({ text, at }: Draft, added: string): Draft {
  return { text: text.slice(0, at) + added + text.slice(at), at: at + added.length };
}

export function eraseBefore(draft: Draft): Draft {
  return cut(draft, draft.at - before(draft).length);
}

export function eraseAfter(draft: Draft): Draft {
  const { text, at } = moveRight(draft);
  return cut({ text, at }, draft.at);
}

export function eraseWord(draft: Draft): Draft {
  const kept = draft.text.slice(0, draft.at).replace(/\S*\s*$/, '');
  return cut(draft, kept.length);
}

export function eraseLine(draft: Draft): Draft {
  return cut(draft, startOfLine(draft));
}

export function moveLeft(draft: Draft): Draft {
  return { ...draft, at: draft.at - before(draft).length };
}

export function moveRight({ text, at }: Draft): Draft {
  return { text, at: at + (firstCharacter(text.slice(at)) ?? '').length };
}

export function moveToStart(draft: Draft): Draft {
  return { ...draft, at: startOfLine(draft) };
}

export function moveToEnd({ text, at }: Draft): Draft {
  const end = text.indexOf('\n', at);
  return { text, at: end === -1 ? text.length : end };
}

/** Takes out what stands between a place and the cursor. */
function cut({ text, at }: Draft, from: number): Draft {
  return { text: text.slice(0, from) + text.slice(at), at: from };
}

function startOfLine({ text, at }: Draft): number {
  return at === 0 ? 0 : text.lastIndexOf('\n', at - 1) + 1;
}

/** The character before the cursor, whole: what a person sees as one may be many units. */
function before({ text, at }: Draft): string {
  const line = text.slice(startOfLine({ text, at }), at);
  return line === '' ? text.slice(Math.max(0, at - 1), at) : ([...graphemes.segment(line)].at(-1)?.segment ?? '');
}

function firstCharacter(text: string): string | undefined {
  for (const { segment } of graphemes.segment(text)) return segment;
  return undefined;
}

const graphemes = new Intl.Segmenter(undefined, { granularity: 'grapheme' });
