import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { cutText, exceedsResultBudget, fillWater, OUTPUT_BUDGET } from './output-budget.js';

const MARKER = '\n[cut]\n';

test.each([
  [[10, 20, 30], 100, [10, 20, 30]],
  [[10, 50, 90], 90, [10, 40, 40]],
  [[50, 50, 50], 90, [30, 30, 30]],
  [[], 10, []],
])('water-filling %j into %i gives %j [G5.21]', (lengths, total, shares) => {
  expect(fillWater(lengths, total)).toEqual(shares);
});

test('water-filling never exceeds the total and cuts only what is larger than a common length [G5.21]', () => {
  fc.assert(
    fc.property(fc.array(fc.nat(50_000), { maxLength: 40 }), fc.nat(300_000), (lengths, total) => {
      const shares = fillWater(lengths, total);
      expect(shares.reduce((sum, share) => sum + share, 0)).toBeLessThanOrEqual(Math.max(total, 0));
      const cut = shares.filter((share, at) => share < (lengths[at] ?? 0));
      expect(new Set(cut).size).toBeLessThanOrEqual(1);
    }),
  );
});

test('a cut keeps the first fifth and the last four fifths [G5.21]', () => {
  const text = `${'a'.repeat(5_000)}${'z'.repeat(95_000)}`;
  const cut = cutText(text, { characters: 1_007, lines: 1_000 }, MARKER);
  expect(cut).toBe(`${'a'.repeat(200)}${MARKER}${'z'.repeat(800)}`);
});

test('1,000 lines stay at most: 199 first, the marker, 800 last [G5.21]', () => {
  const text = Array.from({ length: 3_000 }, (_, line) => `${line}`).join('\n');
  expect(exceedsResultBudget(text, OUTPUT_BUDGET)).toBe(true);
  const lines = cutText(text, { characters: 25_000, lines: 1_000 }, MARKER).split('\n');
  expect(lines).toHaveLength(1_000);
  expect([lines[198], lines[199], lines[200], lines.at(-1)]).toEqual(['198', '[cut]', '2200', '2999']);
});

test('a cut stays within its limits and never splits a surrogate pair [G5.21]', () => {
  const text = fc.string({ unit: fc.constantFrom('a', '\n', '😀', 'é'), maxLength: 400 });
  fc.assert(
    fc.property(text, fc.integer({ min: 1, max: 300 }), fc.integer({ min: 2, max: 50 }), (original, characters, lines) => {
      if (original.length <= characters) return;
      const cut = cutText(original, { characters, lines }, MARKER);
      expect(cut.length).toBeLessThanOrEqual(characters);
      expect(cut.isWellFormed()).toBe(true);
    }),
    { numRuns: 500 },
  );
});
