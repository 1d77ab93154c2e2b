/** The operator's token, kept for commands on this machine. */
import { chmodSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import type { Config } from './config.js';

function tokenFile({ dataDir }: Pick<Config, 'dataDir'>): string {
  return path.join(dataDir, 'keys', 'operator-token');
}

/** The token that ECHELON_TOKEN names or this machine keeps, or `null`. */
export function readOperatorToken(config: Pick<Config, 'dataDir' | 'env'>): string | null {
  if (config.env.ECHELON_TOKEN) return config.env.ECHELON_TOKEN;
  const file = tokenFile(config);
  return existsSync(file) ? readFileSync(file, 'utf8').trim() : null;
}

/** Keeps the token, readable for this account only. */
export function writeOperatorToken(config: Pick<Config, 'dataDir'>, secret: string): void {
  const file = tokenFile(config);
  mkdirSync(path.dirname(file), { recursive: true, mode: 0o700 });
  writeFileSync(file, `${secret}\n`, { mode: 0o600 });
  chmodSync(file, 0o600);
}
