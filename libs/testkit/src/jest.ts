import { spawnSync } from 'node:child_process';
import { describe, test } from '@jest/globals';
import { isPostgresInstalled } from './system-postgres.js';
import { isRedisInstalled } from './test-redis.js';

interface Need {
  readonly name: string;
  readonly isMet: () => boolean;
}

const REDIS: Need = { name: 'redis-server', isMet: isRedisInstalled };
const POSTGRES: Need = { name: 'postgresql', isMet: isPostgresInstalled };
const SCRIPT: Need = { name: 'script (util-linux)', isMet: isScriptInstalled };

/** A `describe` of specs that need Redis; see `describeWhere`. */
export function describeWithRedis(title: string, specs: () => void): void {
  describeWhere(title, [REDIS], specs);
}

/** A `describe` of specs that need Redis and a Postgres that is not the embedded one; see `describeWhere`. */
export function describeScaledOut(title: string, specs: () => void): void {
  describeWhere(title, [REDIS, POSTGRES], specs);
}

/** A `describe` of specs that need a pseudo-terminal; see `describeWhere`. */
export function describeWithTerminal(title: string, specs: () => void): void {
  describeWhere(title, [SCRIPT], specs);
}

/** Where something is not installed, specs are skipped with one line that says so; in CI its absence is a failure. */
function describeWhere(title: string, needs: readonly Need[], specs: () => void): void {
  const missing = needs.filter(({ isMet }) => !isMet()).map(({ name }) => name);
  if (missing.length === 0) return void describe(title, specs);
  const reason = `${missing.join(' and ')} not installed`;
  if (process.env['CI']) return void test(title, () => fail(`CI must install this: ${reason}`));
  process.stderr.write(`skipped: ${title} (${reason})\n`);
  const unavailable = describe.skip;
  unavailable(title, specs);
}

/** Other systems have a program of that name with other options. */
function isScriptInstalled(): boolean {
  return spawnSync('script', ['--version'], { encoding: 'utf8' }).stdout?.includes('util-linux') === true;
}

function fail(message: string): never {
  throw new Error(message);
}
