import { expect, test } from '@jest/globals';
import { readPageByNumber, readPageByPlace } from './page.js';

const cursorOf = (key: readonly number[]): string => Buffer.from(JSON.stringify(key)).toString('base64url');

test('a cursor names a place that the database can hold, or is refused', () => {
  const limit = 10;
  expect(readPageByNumber({ limit, cursor: cursorOf([2_147_483_647]) })).toEqual({ take: 11, after: 2_147_483_647 });
  expect(readPageByPlace({ limit, cursor: cursorOf([3, 1]) })).toEqual({ take: 11, after: { rank: 3, order: 1 } });
  expect(readPageByNumber({ limit, cursor: cursorOf([2_147_483_648]) })).toMatchObject({ code: 'INVALID_INPUT' });
  for (const place of [
    [3, 2_147_483_648],
    [40_000, 1],
  ])
    expect(readPageByPlace({ limit, cursor: cursorOf(place) })).toMatchObject({ code: 'INVALID_INPUT' });
});
