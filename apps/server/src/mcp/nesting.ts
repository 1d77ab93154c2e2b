/** Whether a JSON value nests deeper than `levels`; a scalar has none. */
export function exceedsLevels(value: unknown, levels: number): boolean {
  if (value === null || typeof value !== 'object') return false;
  return levels === 0 || Object.values(value).some((inner) => exceedsLevels(inner, levels - 1));
}
