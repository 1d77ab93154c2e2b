const MARKUP =
  /^\s*(?:<tool_calls?>|<function(?:_call)?[=>]|<\|tool▁calls▁begin\|>|<\|tool_calls?(?:_begin)?\|>|\[TOOL_CALLS\]|<invoke name=)/m;

/** True if a model printed a call of one of its tools as text instead of making it (agent-loop.md §4, `tool_format`). */
export function printsToolMarkup(text: string, toolNames: Iterable<string>): boolean {
  const found = MARKUP.exec(text);
  if (found === null) return false;
  const rest = text.slice(found.index);
  for (const name of toolNames) if (rest.includes(name)) return true;
  return false;
}
