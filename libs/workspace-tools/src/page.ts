import { WORKSPACE_LIMITS } from './limits.js';

/** The first of `lines` that fit one page (`pageLines`, `pageCharacters`); at least one, so that every page gets further. */
export function takePage(lines: readonly string[]): readonly string[] {
  let characters = 0;
  const end = lines.findIndex((line, index) => {
    characters += line.length + 1;
    return index > 0 && (characters > WORKSPACE_LIMITS.pageCharacters || index >= WORKSPACE_LIMITS.pageLines);
  });
  return end === -1 ? lines : lines.slice(0, end);
}
