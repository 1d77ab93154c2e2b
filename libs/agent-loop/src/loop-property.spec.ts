import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import type { ModelMessage } from './model-port.js';
import { MemoryJournal } from './testing/memory-journal.js';
import { checkTurn, randomTurn } from './testing/random-turn.js';
import { play } from './testing/run.js';
import { call, calls, says } from './testing/scripted-client.js';

test('whatever models say and wherever workers die, every call has one result, order is kept, no effect runs twice [G5.20][G7.7][G7.11]', async () => {
  await fc.assert(fc.asyncProperty(randomTurn, checkTurn), { numRuns: 300 });
});

test('a round reads no more of the history and stores no more messages than an early one [G7.2]', async () => {
  const reads: number[] = [];
  const history = new Proxy<ModelMessage[]>([], {
    get: (target, key, receiver) => {
      if (typeof key === 'string' && /^\d+$/.test(key)) reads[reads.length - 1] = (reads.at(-1) ?? 0) + 1;
      return Reflect.get(target, key, receiver) as unknown;
    },
  });
  const journal = new MemoryJournal();
  const script = (round: number) => calls(call(`c${round}`, 'read', { value: `${round}` }));
  const scripts = [...Array.from({ length: 300 }, (_, round) => script(round)), says('done')];
  let round = 0;
  const client = {
    requests: [],
    async *stream() {
      reads.push(0);
      yield* (scripts[round++] ?? []) as never[];
    },
  };
  const opening = { parts: [{ type: 'text', text: 'go' }], sendType: 'user' } as const;
  await play(client, { journal, start: { history, opening } });
  expect(reads[280]).toBe(reads[10]);
  expect(journal.requests[280]).toMatchObject({ messages: [], results: [{ callId: 'c279' }] });
});
