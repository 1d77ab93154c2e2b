/** The one text form (K19): NUL becomes U+FFFD and UTF-16 is well-formed, before limits, hashes and storage. */
export function canonicalText(text: string): string {
  return text.toWellFormed().replaceAll('\u0000', '\ufffd');
}

/** JSON with sorted keys and without white space: equal values have equal text, for hashes and for loop protection. */
export function canonicalJson(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(canonicalJson).join(',')}]`;
  if (value === null || typeof value !== 'object') return JSON.stringify(value) ?? 'null';
  const fields = Object.entries(value).filter(([, field]) => field !== undefined);
  return `{${fields
    .toSorted(([a], [b]) => (a < b ? -1 : 1))
    .map(([key, field]) => `${JSON.stringify(key)}:${canonicalJson(field)}`)
    .join(',')}}`;
}
