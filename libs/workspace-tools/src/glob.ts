/**
 * Globs without regular expressions, so that no pattern can take exponential time.
 *
 * `*` any characters of one name, `?` one character, `[a-z]` and `[!a-z]` a class, `{a,b}` alternatives, `**` any folders.
 * A pattern without `/` is matched against the last name, at any depth; one with `/` against the whole relative path.
 */
import { Refusal } from './refusal.js';

const MAX_ALTERNATIVES = 256;

type Token =
  | { readonly kind: 'star' }
  | { readonly kind: 'any' }
  | { readonly kind: 'character'; readonly value: string }
  | { readonly kind: 'class'; readonly negated: boolean; readonly ranges: readonly (readonly [string, string])[] };
type Segment = '**' | readonly Token[];

/** Returns a test for relative paths with `/`; refuses a glob with too many alternatives. */
export function compileGlob(glob: string): (path: string) => boolean {
  const alternatives = expandBraces(glob.replace(/^(\.?\/)+/, ''));
  const patterns = alternatives.map((alternative) => alternative.split('/').map(compileSegment));
  return (path) => {
    const names = path.split('/');
    return patterns.some((pattern) => matchSequence(pattern, pattern.length === 1 ? names.slice(-1) : names, isAnyFolders, matchName));
  };
}

/**
 * Wildcard matching in at most tokens × items steps: on a mismatch only the last wildcard takes one more item, because what an
 * earlier one could take, the last can take as well.
 */
function matchSequence<T, Item>(
  tokens: readonly T[],
  items: readonly Item[],
  isWildcard: (token: T) => boolean,
  matches: (token: T, item: Item) => boolean,
): boolean {
  let token = 0;
  let wildcard = -1;
  let resume = 0;
  for (let index = 0; index < items.length;) {
    const [current, item] = [tokens[token], items[index]];
    if (current !== undefined && isWildcard(current)) {
      wildcard = token++;
      resume = index;
    } else if (current !== undefined && item !== undefined && matches(current, item)) {
      token += 1;
      index += 1;
    } else if (wildcard !== -1) {
      token = wildcard + 1;
      index = ++resume;
    } else return false;
  }
  return tokens.slice(token).every(isWildcard);
}

function isAnyFolders(segment: Segment): boolean {
  return segment === '**';
}

function matchName(segment: Segment, name: string): boolean {
  return segment !== '**' && matchSequence(segment, [...name], isStar, matchCharacter);
}

function isStar(token: Token): boolean {
  return token.kind === 'star';
}

function matchCharacter(token: Token, character: string): boolean {
  switch (token.kind) {
    case 'star':
    case 'any':
      return true;
    case 'character':
      return token.value === character;
    case 'class':
      return token.ranges.some(([from, to]) => from <= character && character <= to) !== token.negated;
  }
}

function compileSegment(segment: string): Segment {
  if (segment === '**') return '**';
  const tokens: Token[] = [];
  for (let rest = segment; rest !== '';) {
    const [token, length] = readToken(rest);
    tokens.push(token);
    rest = rest.slice(length);
  }
  return tokens;
}

function readToken(rest: string): [Token, number] {
  const [character = ''] = rest;
  if (character === '*') return [{ kind: 'star' }, 1];
  if (character === '?') return [{ kind: 'any' }, 1];
  const end = character === '[' ? rest.indexOf(']', 2) : -1;
  if (end === -1) return [{ kind: 'character', value: character }, character.length];
  const body = rest.slice(1, end);
  const negated = /^[!^]/.test(body) && body.length > 1;
  return [{ kind: 'class', negated, ranges: readRanges([...body.slice(negated ? 1 : 0)]) }, end + 1];
}

function readRanges(characters: readonly string[]): [string, string][] {
  const ranges: [string, string][] = [];
  for (let index = 0; index < characters.length; index += 1) {
    const [from = '', dash, to] = characters.slice(index, index + 3);
    const isRange = dash === '-' && to !== undefined;
    ranges.push([from, isRange ? to : from]);
    if (isRange) index += 2;
  }
  return ranges;
}

function expandBraces(glob: string): string[] {
  let pending = [glob];
  for (;;) {
    const expanded = pending.flatMap(expandFirst);
    if (expanded.length > MAX_ALTERNATIVES) throw new Refusal(`The glob has more than ${MAX_ALTERNATIVES} alternatives.`);
    if (expanded.length === pending.length) return expanded;
    pending = expanded;
  }
}

/** Expands the first innermost `{a,b}`, so that nested ones are resolved from the inside out. */
function expandFirst(glob: string): string[] {
  const found = /^(.*?)\{([^{}]*,[^{}]*)\}(.*)$/s.exec(glob);
  if (!found) return [glob];
  const [, before = '', alternatives = '', after = ''] = found;
  return alternatives.split(',').map((alternative) => `${before}${alternative}${after}`);
}
