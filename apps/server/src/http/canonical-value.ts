import { canonicalText } from '@echelon/domain';

/** A JSON value with every string and key in the one text form, before limits, hashes and storage (K19). */
export function canonicalValue(value: unknown): unknown {
  if (typeof value === 'string') return canonicalText(value);
  if (Array.isArray(value)) return value.map(canonicalValue);
  if (value === null || typeof value !== 'object') return value;
  return Object.fromEntries(Object.entries(value).map(([key, field]) => [canonicalText(key), canonicalValue(field)]));
}
