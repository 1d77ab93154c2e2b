import { expect, test } from '@jest/globals';
import { z } from 'zod';
import { lastResults, play } from './testing/run.js';
import { call, calls, says } from './testing/scripted-client.js';
import { tool } from './testing/tools.js';

test('arguments over a limit are not run, and the model is told the limit; a hook’s change counts, too [O35]', async () => {
  const limits = { arguments: { bytes: 40, levels: 2 } };
  const open = tool('open', { input: z.looseObject({}) });
  const given: readonly [string, string | object][] = [
    ['fits', { value: 'x'.repeat(28) }],
    ['bytes', { value: 'x'.repeat(29) }],
    ['utf8', { value: 'ü'.repeat(15) }],
    ['text', '{"value":"'],
    ['levels', { value: [[]] }],
  ];
  const batch = calls(...given.map(([id, args]) => call(id, 'open', args)));
  const run = await play([batch, says('ok')], { tools: [open], limits });
  expect(run.context.started).toEqual(['fits']);
  const texts = Object.entries(lastResults(run.history)).map(([id, result]) => [id, result.text]);
  expect(Object.fromEntries(texts)).toMatchObject({
    bytes: 'Invalid arguments for open: they may have at most 40 bytes.',
    utf8: 'Invalid arguments for open: they may have at most 40 bytes.',
    text: expect.stringContaining('not valid JSON'),
    levels: 'Invalid arguments for open: they may have at most 2 levels.',
  });
  const hooks = { beforeTool: () => Promise.resolve({ input: { value: [[]] } }) };
  const changed = await play([calls(call('c1', 'open', {})), says('ok')], { tools: [open], limits, hooks });
  expect(changed.context.started).toEqual([]);
});
