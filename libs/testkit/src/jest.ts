import { describe, test } from '@jest/globals';
import { isRedisInstalled } from './test-redis.js';

/**
 * A `describe` of specs that need Redis: where redis-server is absent they are skipped with one line that says so, except in
 * CI, where that is a failure.
 */
export function describeWithRedis(title: string, specs: () => void): void {
  if (isRedisInstalled()) return void describe(title, specs);
  if (process.env['CI']) return void test(`${title}: redis-server is installed`, failForMissingRedis);
  process.stderr.write(`skipped: ${title} (redis-server is not installed)\n`);
  const unavailable = describe.skip;
  unavailable(title, specs);
}

function failForMissingRedis(): never {
  throw new Error('CI must install redis-server');
}
