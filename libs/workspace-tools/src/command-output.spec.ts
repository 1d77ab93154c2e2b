import { expect, test } from '@jest/globals';
import { KeptOutput } from './kept-output.js';
import { createOutputDecoder } from './index.js';

const TEXT = 'aé日😀\uFEFF\n';

test('text cut into chunks at any two bytes is decoded without damage', () => {
  const bytes = Buffer.from(TEXT);
  for (let first = 0; first <= bytes.length; first += 1) {
    for (let second = first; second <= bytes.length; second += 1) {
      const decoder = createOutputDecoder();
      const chunks = [bytes.subarray(0, first), bytes.subarray(first, second), bytes.subarray(second)];
      expect(chunks.map((chunk) => decoder.write(chunk)).join('') + decoder.end()).toBe(TEXT);
    }
  }
});

test('no chunk of decoded text ends in half a character', () => {
  const decoder = createOutputDecoder();
  for (const byte of Buffer.from(TEXT)) expect(decoder.write(Uint8Array.of(byte)).isWellFormed()).toBe(true);
});

test('NUL, invalid bytes and an unfinished character become U+FFFD', () => {
  const decoder = createOutputDecoder();
  expect(decoder.write(Uint8Array.of(0x61, 0, 0xff, 0x62, 0xf0, 0x9f)) + decoder.end()).toBe('a\uFFFD\uFFFDb\uFFFD');
});

test('output within the limit is kept as it is, in pieces of any size', () => {
  for (const size of [1, 3, 7, 100]) {
    const kept = new KeptOutput(100);
    const text = 'x'.repeat(100);
    for (let at = 0; at < text.length; at += size) kept.add(text.slice(at, at + size));
    expect([kept.text(), kept.totalBytes, kept.omittedBytes]).toEqual([text, 100, 0]);
  }
});

test('of longer output the first fifth and the last four fifths are kept', () => {
  for (const size of [1, 7, 1_000]) {
    const kept = new KeptOutput(100);
    const text = Array.from({ length: 1_000 }, (_, index) => String(index % 10)).join('');
    for (let at = 0; at < text.length; at += size) kept.add(text.slice(at, at + size));
    expect(kept.text()).toBe(`${text.slice(0, 20)}\n[… 900 bytes left out …]\n${text.slice(-80)}`);
  }
});

test('neither edge of the gap cuts a character', () => {
  for (let shift = 0; shift < 4; shift += 1) {
    const kept = new KeptOutput(101);
    kept.add('x'.repeat(shift));
    for (let count = 0; count < 100; count += 1) kept.add('😀');
    expect(kept.text()).toMatch(/^x*(😀)+\n\[… \d+ bytes left out …\]\n(😀)+$/u);
  }
});
