/** When two calls are the same call: equal name and equal arguments in canonical form. */

/** What a call asks for, compared in canonical form, which is made only when it is needed. */
export class CallContent {
  private form: string | null = null;

  constructor(
    readonly name: string,
    /** Raw JSON text. */
    private readonly raw: string,
  ) {}

  /** Tells whether both ask for the same thing; key order, white space and number notation do not matter. */
  equals(other: CallContent): boolean {
    if (this.name !== other.name) return false;
    return this.raw === other.raw || this.canonical === other.canonical;
  }

  private get canonical(): string {
    this.form ??= canonicalArguments(this.raw);
    return this.form;
  }
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
