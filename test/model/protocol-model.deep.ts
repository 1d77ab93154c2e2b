import { beforeAll, expect, test } from '@jest/globals';
import type { Exploration } from './explore.js';
import { exploreProtocol, type Fault, FAULTS } from './protocol-model.js';

const triples = FAULTS.flatMap((first, at) =>
  FAULTS.slice(at + 1).flatMap((second) =>
    FAULTS.slice(FAULTS.indexOf(second) + 1).map((third): readonly [Fault, Fault, Fault] => [first, second, third]),
  ),
);
const explorations = new Map<string, Exploration>();

beforeAll(() => {
  for (const faults of triples) explorations.set(faults.join(), exploreProtocol({ faults }));
}, 600_000);

test.each(triples)(
  'under %s, %s and %s nothing is lost, done twice or left waiting [K1] [K2] [K3] [K4] [K5] [K6] [K7] [K8] [K9] [K10]',
  (...faults) => {
    expect(explorations.get(faults.join())?.violation).toBeNull();
  },
);

test('the twenty triples reach every state that the model is known to have', () => {
  const states = [...explorations.values()].reduce((sum, exploration) => sum + exploration.states, 0);
  expect([triples.length, states]).toEqual([20, 299_031]);
});
