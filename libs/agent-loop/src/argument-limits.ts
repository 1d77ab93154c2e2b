/** What the arguments of one call may be at most; given by the deployment, the same for every way in. */
export interface ArgumentLimits {
  /** UTF-8 bytes of their JSON text. */
  readonly bytes: number;
  /** Nesting of objects and arrays. */
  readonly levels: number;
}

/** A limit that arguments are over. */
export type ExceededLimit = keyof ArgumentLimits;

/** Whether JSON text is over the limit of bytes; looked at before it is parsed. */
export function exceedsBytes(json: string, { bytes }: ArgumentLimits): boolean {
  return json.length > bytes || (json.length * 3 > bytes && new TextEncoder().encode(json).length > bytes);
}

/** The limit that a parsed value is over, or `null`. Levels come first: what nests without end cannot be written as text either. */
export function findExceeded(value: unknown, limits: ArgumentLimits): ExceededLimit | null {
  if (exceedsLevels(value, limits.levels)) return 'levels';
  return exceedsBytes(JSON.stringify(value) ?? '', limits) ? 'bytes' : null;
}

/** A scalar has no levels. */
function exceedsLevels(value: unknown, levels: number): boolean {
  if (value === null || typeof value !== 'object') return false;
  return levels === 0 || Object.values(value).some((inner) => exceedsLevels(inner, levels - 1));
}
