import { expect, test } from '@jest/globals';
import { runSequences } from './run-sequences.js';

test('60 sequences of commands end as the model ends, command by command', async () => {
  expect((await runSequences({ runs: 60, atOnce: 1, seed: 1 })).facts).toContain('a question answered');
});

test('40 sequences of commands that run at once have an order that explains them', async () => {
  expect((await runSequences({ runs: 40, atOnce: 3, seed: 1 })).facts).toContain('a question answered');
});
