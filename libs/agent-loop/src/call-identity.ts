/** When two calls are the same call: equal name and equal arguments in canonical form. */

interface NamedCall {
  readonly name: string;
  /** Raw JSON text. */
  readonly arguments: string;
}

/** Tells whether both calls ask for the same thing; key order, white space and number notation do not matter. */
export function isSameCall(one: NamedCall, other: NamedCall): boolean {
  if (one.name !== other.name) return false;
  return one.arguments === other.arguments || canonicalArguments(one.arguments) === canonicalArguments(other.arguments);
}

/** JSON text with sorted keys; text that is no JSON stays as it is, integers beyond 2^53 keep their digits. */
export function canonicalArguments(raw: string): string {
  const text = raw.trim();
  if (text === '') return '{}';
  try {
    return JSON.stringify(sortKeys(JSON.parse(text, keepDigits)));
  } catch {
    return text;
  }
}

function keepDigits(_key: string, value: unknown, context?: { readonly source?: string }): unknown {
  if (typeof value !== 'number' || !Number.isInteger(value) || Number.isSafeInteger(value)) return value;
  return { '#': context?.source ?? String(value) };
}

function sortKeys(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sortKeys);
  if (typeof value !== 'object' || value === null) return value;
  const entries = Object.entries(value).sort(([one], [other]) => (one < other ? -1 : 1));
  return Object.fromEntries(entries.map(([key, inner]) => [key, sortKeys(inner)]));
}
