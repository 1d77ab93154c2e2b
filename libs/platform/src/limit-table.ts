/** Limits and retention as people read them: for `echelon doctor --limits` and for docs/limits.md. */
import { type LimitName, LIMITS, RETENTION, type RetentionName } from '@echelon/domain';
import type { Config } from './config.js';
import { limitVariable, retentionVariable } from './variables.js';

export interface LimitRow {
  readonly name: string;
  readonly value: number;
  readonly unit: string;
  /** How a value over the limit is refused; `null` where it is not refused. */
  readonly code: string | null;
  /** What changes it; `null` for what is part of the contract. */
  readonly variable: string | null;
  readonly meaning: string;
}

/** Every limit with its effective value. */
export function listLimits({ limits }: Pick<Config, 'limits'>): readonly LimitRow[] {
  return (Object.keys(LIMITS) as LimitName[]).map((name) => {
    const limit = LIMITS[name];
    const variable = 'fixed' in limit ? null : limitVariable(name);
    return { name, value: limits[name], unit: limit.unit, code: limit.code, variable, meaning: limit.meaning };
  });
}

/** How long everything with a retention is kept, in days; 0 is for ever. */
export function listRetention({ retention }: Pick<Config, 'retention'>): readonly LimitRow[] {
  return (Object.keys(RETENTION) as RetentionName[]).map((name) => {
    return { name, value: retention[name], unit: 'days', code: null, variable: retentionVariable(name), meaning: RETENTION[name].meaning };
  });
}
