import { expect, test } from '@jest/globals';
import { RateLimiter } from './rate-limiter.js';

test('a minute’s worth may come at once; then one comes free as its share of the minute passes', () => {
  let now = 0;
  const limiter = new RateLimiter(60, () => now);
  for (let n = 0; n < 60; n += 1) expect(limiter.take('a')).toBe(0);
  expect(limiter.take('a')).toBe(1);
  now = 999;
  expect(limiter.take('a')).toBe(1);
  now = 1_000;
  expect(limiter.take('a')).toBe(0);
  expect(limiter.take('a')).toBe(1);
});

test('the wait is told in whole seconds, never too short', () => {
  const limiter = new RateLimiter(4, () => 0);
  for (let n = 0; n < 4; n += 1) limiter.take('a');
  expect(limiter.take('a')).toBe(15);
});

test('a bucket never holds more than a minute’s worth', () => {
  let now = 0;
  const limiter = new RateLimiter(2, () => now);
  limiter.take('a');
  now = 3_600_000;
  expect([limiter.take('a'), limiter.take('a'), limiter.take('a')]).toEqual([0, 0, 30]);
});

test('keys do not share, and 0 is unlimited', () => {
  const limiter = new RateLimiter(1, () => 0);
  expect([limiter.take('a'), limiter.take('b')]).toEqual([0, 0]);
  const unlimited = new RateLimiter(0, () => 0);
  for (let n = 0; n < 1_000; n += 1) expect(unlimited.take('a')).toBe(0);
});
