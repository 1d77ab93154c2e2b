import type { Logger } from '@echelon/orchestration';
import type { Config } from './config.js';
import { findUnknownVariables } from './variables.js';

/** Says once which variables nothing reads; a mistyped name must not pass for a setting that works. */
export function warnOfUnknownVariables(log: Logger, { env }: Pick<Config, 'env'>): void {
  for (const { name, nearest } of findUnknownVariables(env)) log.warn({ variable: name, nearest }, 'config.unknown_variable');
}
