import { expect, test } from '@jest/globals';
import { runSequences } from './run-sequences.js';

test('60 sequences of commands end as the model ends, command by command', async () => {
  expect((await runSequences({ runs: 60, atOnce: 1, seed: 1 })).sequences.get('a question answered')).toBeGreaterThan(0);
});

test('40 sequences of commands that run at once have an order that explains them', async () => {
  expect((await runSequences({ runs: 40, atOnce: 3, seed: 1 })).sequences.get('a question answered')).toBeGreaterThan(0);
});

/** Statements without which the product would be wrong, in places where no exception says so. */
const FAULTS: Readonly<Record<string, RegExp>> = {
  'a question that is over still waits for its parent': /WHERE question_id = \$1 AND kind IN \('question', 'reminder'\)/,
  'a child that is over is still counted': /open_children = open_children - 1/,
  'a session with new work is not marked': /UPDATE session SET runnable = \$2/,
};

test.each(Object.entries(FAULTS))('a product in which %s is found, with the seed that shows it', async (_, fault) => {
  await expect(runSequences({ runs: 60, atOnce: 1, seed: 1, fault })).rejects.toThrow(
    /after \d+ sequences and 0 shrinks; again: npm run test:model -- --at-once 1 --seed 1 --path \d+/,
  );
});
