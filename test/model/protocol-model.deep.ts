import { afterAll, expect, test } from '@jest/globals';
import { exploreProtocol, FAULTS, type Fault } from './protocol-model.js';

const pairs = FAULTS.flatMap((first, index) => FAULTS.slice(index + 1).map((second) => [first, second] as const));
const triples = pairs.flatMap(([first, second]) =>
  FAULTS.slice(FAULTS.indexOf(second) + 1).map((third): readonly [Fault, Fault, Fault] => [first, second, third]),
);

let states = 0;

test.each(triples)(
  'under %s, %s and %s nothing is lost, done twice or left waiting [K1] [K2] [K3] [K4] [K5] [K6] [K7] [K8] [K9] [K10]',
  (...faults) => {
    const exploration = exploreProtocol({ faults });
    states += exploration.states;
    expect(exploration.violation).toBeNull();
  },
  120_000,
);

afterAll(() => {
  process.stderr.write(`protocol model: ${String(states)} states under ${String(triples.length)} fault triples\n`);
});

test('the triples together reach every state that the model has', () => {
  expect([triples.length, states]).toEqual([20, 281_163]);
});
