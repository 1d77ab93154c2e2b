export function median(values: readonly number[]): number {
  return percentile(values, 0.5);
}

/** The value below which the share `part` of the values lies, by nearest rank. */
export function percentile(values: readonly number[], part: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  const value = sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * part))];
  if (value === undefined) throw new Error('no values');
  return value;
}
