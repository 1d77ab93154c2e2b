import { expect, test } from '@jest/globals';
import { canonicalJson, canonicalText } from '@echelon/domain';

test.each([
  ['NUL becomes a replacement character [K19]', 'a\u0000b', 'a\ufffdb'],
  ['a lone surrogate becomes a replacement character [K19]', 'a\ud800b', 'a\ufffdb'],
  ['a pair stays whole [K19]', 'a😀b', 'a😀b'],
])('%s', (_fact, given, expected) => {
  expect(canonicalText(given)).toBe(expected);
});

test.each([
  ['key order does not matter', { b: 1, a: [{ d: 2, c: 3 }] }, '{"a":[{"c":3,"d":2}],"b":1}'],
  ['absent fields do not count', { a: undefined, b: null }, '{"b":null}'],
  ['values keep their kinds', ['1', 1, true, null], '["1",1,true,null]'],
])('%s', (_fact, given, expected) => {
  expect(canonicalJson(given)).toBe(expected);
});
