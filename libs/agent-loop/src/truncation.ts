/** Evidence that a response was cut off although the provider did not say so (agent-loop.md §4). */

export interface ResponseEnd {
  /** Raw arguments of the last call; `null` without calls. */
  readonly lastArguments: string | null;
  readonly outputTokens: number | null;
  /** The limit that was requested, if any. */
  readonly requestedLimit: number | null;
}

/** True if the last arguments are unfinished JSON, or the completion used the whole requested limit. */
export function isCutOff({ lastArguments, outputTokens, requestedLimit }: ResponseEnd): boolean {
  if (requestedLimit !== null && outputTokens !== null && outputTokens >= requestedLimit) return true;
  return lastArguments !== null && isUnfinishedJson(lastArguments);
}

/** True for JSON text that breaks off inside a string, list or object; malformed but closed text is not unfinished. */
export function isUnfinishedJson(text: string): boolean {
  let depth = 0;
  let inString = false;
  for (let at = 0; at < text.length; at++) {
    const char = text[at];
    if (inString) {
      if (char === '\\') at++;
      else if (char === '"') inString = false;
    } else if (char === '"') inString = true;
    else if (char === '{' || char === '[') depth++;
    else if (char === '}' || char === ']') depth--;
  }
  return inString || depth > 0;
}
