import { expect, test } from '@jest/globals';
import type { LoopStop } from './stop-reason.js';
import { turnOutcome } from './turn-outcome.js';

const ran = { stopRequested: false, interrupted: false };
const completed: LoopStop = { reason: 'completed' };
const failed: LoopStop = { reason: 'error', kind: 'persistence', message: 'gone' };

test.each<[string, LoopStop | null, Partial<typeof ran>, string | null]>([
  ['the stop reason is the outcome', completed, {}, 'completed'],
  ['empty is said', { reason: 'completed_empty', toolsAnswered: false }, {}, 'completed_empty'],
  ['stopped wins over empty', { reason: 'completed_empty', toolsAnswered: false }, { stopRequested: true }, 'stopped'],
  ['stopped wins over interrupted', null, { stopRequested: true, interrupted: true }, 'stopped'],
  ['interrupted wins over error', failed, { interrupted: true }, 'interrupted'],
  ['no end at all is interrupted', null, {}, 'interrupted'],
  ['error is error', failed, {}, 'error'],
  ['a cancel by the stop flag is stopped', { reason: 'cancelled', by: 'stop' }, {}, 'stopped'],
  ['another cancel is cancelled', { reason: 'cancelled', by: 'signal' }, {}, 'cancelled'],
  ['parked is no outcome', { reason: 'parked', for: [] }, {}, null],
  ['handed over is no outcome', { reason: 'handed_over' }, {}, null],
  ['next round is no outcome', { reason: 'next_round' }, {}, null],
  ['a stopped park is torn down', { reason: 'parked', for: [] }, { stopRequested: true }, 'stopped'],
])('%s [G3.3][W4]', (_name, stop, facts, outcome) => {
  expect(turnOutcome({ stop, ...ran, ...facts })).toBe(outcome);
});
