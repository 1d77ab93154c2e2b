import { describe, expect, test } from '@jest/globals';
import { ADMITTED, type AdmissionFacts, nextWork, OBSTACLES } from '@echelon/domain';
import { ENTRY_KINDS, type EntryKind, rankOf } from './queue-entry.js';
import type { Obstacle } from './admission.js';

const READY: AdmissionFacts = {
  driven: true,
  sessionState: 'idle',
  autoRun: true,
  taskState: 'review',
  taskArchived: false,
  dependencyOpen: false,
  openTurn: null,
  questionPending: false,
  entries: [],
};
const OPEN_TURN = { id: 't', parked: false, openWaits: 0, wakeDue: false, backingOff: false };

function entry(id: string, kind: EntryKind, order = 1, rank = 3) {
  return { id, kind, rank, order };
}

const OBSTRUCTED: Readonly<Record<Obstacle, Partial<AdmissionFacts>>> = {
  question_pending: { questionPending: true },
  auto_run_off: { autoRun: false },
  task_blocked: { taskState: 'blocked' },
  task_closed: { taskState: 'completed' },
};

describe('what a session does next', () => {
  test.each(OBSTACLES.flatMap((obstacle) => ENTRY_KINDS.map((kind) => ({ obstacle, kind }))))(
    '$obstacle lets $kind through as the table says [K6, M8]',
    ({ obstacle, kind }) => {
      const next = nextWork({ ...READY, ...OBSTRUCTED[obstacle], entries: [entry('e', kind)] });
      expect(next).toEqual(ADMITTED[obstacle][kind] ? { do: 'open', entryId: 'e' } : { do: 'nothing', because: obstacle });
    },
  );

  test('a pending question lets its answer through and nothing else [K6, A17, S2]', () => {
    const entries = [entry('peer', 'prompt', 1), entry('answer', 'answer', 2, 0)];
    expect(nextWork({ ...READY, questionPending: true, entries })).toEqual({ do: 'open', entryId: 'answer' });
    expect(nextWork({ ...READY, questionPending: true, entries: [entry('peer', 'prompt')] }).do).toBe('nothing');
  });

  test('the lowest rank opens, then the lowest order', () => {
    const entries = [entry('late', 'prompt', 5), entry('early', 'prompt', 4), entry('question', 'question', 9, 2)];
    expect(nextWork({ ...READY, entries })).toEqual({ do: 'open', entryId: 'question' });
    expect(nextWork({ ...READY, entries: entries.slice(0, 2) })).toEqual({ do: 'open', entryId: 'early' });
  });

  test.each([
    ['an unfinished turn goes before any entry [K3]', OPEN_TURN, { do: 'resume', turnId: 't' }],
    ['a parked turn waits while a wait is open [K13]', { ...OPEN_TURN, parked: true, openWaits: 1 }, { do: 'nothing', because: 'parked' }],
    ['a parked turn resumes when all its waits are decided [K13]', { ...OPEN_TURN, parked: true }, { do: 'resume', turnId: 't' }],
    [
      'a parked turn resumes when its time has come [K13]',
      { ...OPEN_TURN, parked: true, openWaits: 1, wakeDue: true },
      { do: 'resume', turnId: 't' },
    ],
    ['a turn that backs off rests [K22]', { ...OPEN_TURN, backingOff: true }, { do: 'nothing', because: 'backing_off' }],
  ] as const)('%s', (_fact, openTurn, expected) => {
    expect(nextWork({ ...READY, openTurn, entries: [entry('e', 'answer', 1, 0)] })).toEqual(expected);
  });

  test('an ended session, and one that somebody else drives, does nothing', () => {
    const entries = [entry('e', 'answer', 1, 0)];
    expect(nextWork({ ...READY, sessionState: 'cancelled', entries })).toEqual({ do: 'nothing', because: 'terminal' });
    expect(nextWork({ ...READY, driven: false, entries })).toEqual({ do: 'nothing', because: 'not_driven' });
  });

  test('an archived task admits nothing', () => {
    expect(nextWork({ ...READY, taskArchived: true, entries: [entry('e', 'notice', 1, 0)] })).toEqual({
      do: 'nothing',
      because: 'task_closed',
    });
  });
});

test.each([
  ['notice', {}, 0],
  ['answer', {}, 0],
  ['prompt', { supersedes: true }, 0],
  ['prompt', { interrupts: true }, 1],
  ['question', {}, 2],
  ['alert', {}, 2],
  ['reminder', {}, 3],
  ['prompt', {}, 3],
] as const)('%s %j has rank %i [M8]', (kind, how, rank) => {
  expect(rankOf(kind, { supersedes: false, interrupts: false, ...how })).toBe(rank);
});
