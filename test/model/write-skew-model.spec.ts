import { expect, test } from '@jest/globals';
import { exploreWriteSkew } from './write-skew-model.js';

test('an ask beside the archiving of its parent is refused, answered or made stale, never forgotten [K9] [K20]', () => {
  expect(exploreWriteSkew({ canCrash: false, mutations: ['no-rebuild'] }).violation).toBeNull();
});

test('a worker that dies between reading and asking holds no lock and loses nothing [K10] [K20]', () => {
  expect(exploreWriteSkew({ canCrash: true }).violation).toBeNull();
});

test('without the lock on the parent both commit and the child waits for nobody [K20]', () => {
  expect(exploreWriteSkew({ canCrash: false, mutations: ['no-parent-lock'] }).violation?.facts).toContain('the child waits for nobody');
});
