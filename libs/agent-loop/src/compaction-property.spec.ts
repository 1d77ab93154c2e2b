/** Random long turns in a small window: what models answer, which summaries fail, where workers die; and what must hold whatever happens. */
import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { pairHistory } from './history.js';
import type { ModelMessage } from './model-port.js';
import { MemoryJournal, type BarrierFault } from './testing/memory-journal.js';
import { outline, play, type TestRun } from './testing/run.js';
import { call, failure, finish, says, scriptedClient, text, usage, type RecordedRequest, type Script } from './testing/scripted-client.js';
import { said, tool, type TestContext } from './testing/tools.js';

/** The deep run imports this file. */
const RUNS = process.env.ECHELON_DEEP ? 2_000 : 150;
const WINDOW = 2_000;

interface RandomTurn {
  /** Rounds: how many calls each makes, and the characters of each result. */
  readonly rounds: readonly { readonly calls: number; readonly characters: number; readonly lead: boolean }[];
  /** Which summaries come to something, in turn. */
  readonly summaries: readonly boolean[];
  /** Whether the provider counts tokens. */
  readonly counts: boolean;
  readonly deaths: readonly BarrierFault[];
}

const randomTurn: fc.Arbitrary<RandomTurn> = fc.record({
  rounds: fc.array(
    fc.record({ calls: fc.integer({ min: 1, max: 3 }), characters: fc.integer({ min: 0, max: 2_500 }), lead: fc.boolean() }),
    { minLength: 4, maxLength: 25 },
  ),
  summaries: fc.array(fc.boolean(), { minLength: 1, maxLength: 4 }),
  counts: fc.boolean(),
  deaths: fc.array(fc.record({ at: fc.nat(20), fault: fc.constantFrom<BarrierFault['fault']>('before', 'after') }), { maxLength: 3 }),
});

test('however often a turn is compacted, each request has every call with its result, and the opening and each Lead once [G7.11][G7.12][L19]', async () => {
  let compactions = 0;
  await fc.assert(
    fc.asyncProperty(randomTurn, async (turn) => {
      const { requests, run, leads } = await playTurn(turn, turn.deaths);
      compactions += run.events.filter(({ type }) => type === 'compacted').length;
      for (const { messages } of requests) checkPairs(messages);
      checkInstructions(requests, leads);
      checkPairs(run.history);
      expect(new Set(requests.map(({ system }) => system)).size).toBe(1);
    }),
    { numRuns: RUNS },
  );
  expect(compactions).toBeGreaterThan(RUNS / 4);
}, 300_000);

test('wherever a worker dies, the next request is the one that an uninterrupted run sends [G7.9][G8.38]', async () => {
  await fc.assert(
    fc.asyncProperty(randomTurn, async (turn) => {
      const alive = await playTurn(turn, []);
      const killed = await playTurn(turn, turn.deaths);
      expect(toSequence(killed.requests)).toEqual(toSequence(alive.requests));
      expect(killed.run.stop).toEqual(alive.run.stop);
      expect(outline(killed.run.history)).toEqual(outline(alive.run.history));
    }),
    { numRuns: RUNS },
  );
}, 300_000);

interface Played {
  /** Without those for summaries. */
  readonly requests: readonly RecordedRequest[];
  readonly run: TestRun;
  readonly leads: readonly string[];
}

/** Plays the turn through its deaths to its end. What a model answers depends on the request alone. */
async function playTurn({ rounds, summaries, counts }: RandomTurn, deaths: readonly BarrierFault[]): Promise<Played> {
  const journal = new MemoryJournal();
  const context: TestContext = { started: [], finished: [] };
  const leads = new Set<string>();
  const work = tool('work', {
    execute: (input) => {
      const { value } = input as { readonly value: string };
      const [round = 0, index] = value.split('.').map(Number);
      const { characters = 0, lead = false } = rounds[round] ?? {};
      const text = `lead ${round}.`;
      if (lead && index === 0 && !leads.has(text)) journal.leads.push(text);
      if (lead) leads.add(text);
      return Promise.resolve(said(`done ${round}.${'x'.repeat(characters)}`));
    },
  });
  const client = scriptedClient((request): Script => {
    const done = lastRound(request.messages);
    if (request.tools.length === 0) return summaries[done % summaries.length] ? says(`Up to done ${done}.`) : [failure({ status: 400 })];
    const round = rounds[done + 1];
    if (round === undefined) return says('end');
    const made = Array.from({ length: round.calls }, (_, at) => call(`c${done + 1}-${at}`, 'work', { value: `${done + 1}.${at}` }));
    return [text('on'), ...made, finish('tool_calls', counts ? usage(sizeOf(request), 20) : usage(null, null))];
  });
  for (const end of [...deaths, null]) {
    const start = journal.messages.length === 0 ? undefined : journal.restart();
    journal.arm(end);
    const run = await play(client, { journal, context, tools: [work], contextWindow: WINDOW, ...(start && { start }) });
    if (run.stop.reason === 'error' && run.stop.kind === 'persistence') continue;
    return { requests: client.requests.filter(({ tools }) => tools.length > 0), run, leads: [...leads] };
  }
  throw new Error('the last run has no death');
}

/** The last round that the conversation tells of, in a result or a summary; -1: none. */
function lastRound(messages: readonly ModelMessage[]): number {
  const told = [...textOf(messages).matchAll(/done (\d+)\./g)].map(([, round]) => Number(round));
  return Math.max(-1, ...told);
}

function sizeOf({ messages }: RecordedRequest): number {
  return Math.ceil(textOf(messages).length / 4) + 300;
}

function textOf(messages: readonly ModelMessage[]): string {
  return messages.map(({ parts }) => parts.map((part) => ('text' in part ? part.text : part.arguments)).join(' ')).join(' ');
}

/** Request by request; one that was sent again counts once. */
function toSequence(requests: readonly RecordedRequest[]): readonly string[] {
  const bodies = requests.map(({ messages }) => JSON.stringify(messages));
  return bodies.filter((body, at) => body !== bodies[at - 1]);
}

function checkPairs(messages: readonly ModelMessage[]): void {
  expect(pairHistory(messages)).toBe(messages);
}

/** Each stands once in every request from the first one that carries it. */
function checkInstructions(requests: readonly RecordedRequest[], leads: readonly string[]): void {
  const lines = requests.map(({ messages }) => outline(messages));
  for (const said of ['go', ...leads]) {
    const counts = lines.map((request) => request.filter((line) => line === `user: ${said}`).length);
    const first = counts.findIndex((count) => count > 0);
    if (first < 0) continue;
    expect(new Set(counts.slice(first))).toEqual(new Set([1]));
  }
}
