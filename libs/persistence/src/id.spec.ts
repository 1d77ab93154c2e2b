import { expect, test } from '@jest/globals';
import { newId } from './index.js';

test('ids of one process are version 7, different, and sort by their creation', () => {
  const ids = Array.from({ length: 20_000 }, newId);
  for (const id of ids) expect(id).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
  expect(ids.toSorted()).toEqual(ids);
  expect(new Set(ids).size).toBe(ids.length);
});

test('an id carries the time of its creation', () => {
  const from = Date.now();
  const id = newId();
  const time = Number.parseInt(id.replace('-', '').slice(0, 12), 16);
  expect(time).toBeGreaterThanOrEqual(from);
});
