import { expect, test } from '@jest/globals';
import { z } from 'zod';
import { lastResults, outline, play } from './testing/run.js';
import { call, calls, says } from './testing/scripted-client.js';
import { said, tool } from './testing/tools.js';

const huge = tool('huge', {
  input: z.strictObject({ size: z.number() }),
  execute: (input) => Promise.resolve(said('x'.repeat((input as { size: number }).size))),
});

test('a cut result keeps head and tail, names its artifact, and is reported as the model reads it [G5.21][G2.10]', async () => {
  const stored: { callId: string; length: number }[] = [];
  const reported: string[] = [];
  const run = await play([calls(call('c1', 'huge', { size: 30_000 })), says('ok')], {
    tools: [huge],
    artifacts: {
      store: ({ callId, text: full }) => (stored.push({ callId, length: full.length }), Promise.resolve(`artifact ${callId}`)),
    },
    policies: { onResults: (results) => (reported.push(...results.map((result) => result.text)), 'go_on') },
  });
  const told = lastResults(run.history).c1?.text ?? '';
  expect(told).toHaveLength(25_000);
  expect(told).toContain('Full output: artifact c1.');
  expect(stored).toEqual([{ callId: 'c1', length: 30_000 }]);
  expect(reported).toEqual([told]);
});

test('a batch shares its budget by water-filling [G5.21][G8.36]', async () => {
  const batch = calls(...Array.from({ length: 12 }, (_, at) => call(`c${at}`, 'huge', { size: at === 0 ? 1_000 : 24_000 + at })));
  const run = await play([batch, says('ok')], { tools: [huge] });
  const lengths = Object.values(lastResults(run.history)).map((part) => part.text.length);
  expect(lengths.reduce((sum, length) => sum + length)).toBeLessThanOrEqual(200_000);
  expect(lengths).toEqual([1_000, ...Array.from({ length: 11 }, () => 18_090)]);
});

test('a full text that cannot be kept stops the run; calls stay paired [G7.3]', async () => {
  const run = await play([calls(call('c1', 'huge', { size: 30_000 }))], {
    tools: [huge],
    artifacts: { store: () => Promise.reject(new Error('full')) },
  });
  expect(run.stop).toMatchObject({ reason: 'error', kind: 'persistence', message: 'full' });
  expect(outline(run.history).at(-1)).toBe('tool: #c1');
});
