/** Random turns: what models answer, what breaks, and where workers die; and what must hold whatever happens. */
import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { canonicalArguments } from './call-identity.js';
import { pairHistory } from './history.js';
import type { ModelMessage, ToolCallPart } from './model-port.js';
import { MemoryJournal, type BarrierFault } from './testing/memory-journal.js';
import { play, type TestRun } from './testing/run.js';
import { call, calls, failure, finish, says, scriptedClient, text, type Script, type ScriptStep } from './testing/scripted-client.js';
import { read, tool, write, type TestContext } from './testing/tools.js';

/** The deep run imports this file. */
const RUNS = process.env.ECHELON_DEEP ? 5_000 : 300;

interface RandomTurn {
  readonly scripts: readonly Script[];
  /** One per run of the turn: where the worker dies or leaves; `null`: it lives. */
  readonly deaths: readonly (BarrierFault | { readonly handOverAfter: number } | null)[];
  /** Abort of the loop signal after so many events of the last run. */
  readonly cancelAfter: number | null;
}

const idempotent = tool('again', { effect: 'write', concurrencySafe: false, idempotent: true });
const agent = tool('agent', { effect: 'agent' });
/** Tools that a resumed turn may run again. */
const REPEATABLE: ReadonlySet<string> = new Set(['read', 'again']);
const TOOLS = [read, write, idempotent, agent];

const toolCall = fc
  .record({
    id: fc.constantFrom('', 'a', 'b', 'c'),
    name: fc.constantFrom('read', 'read', 'write', 'write', 'again', 'agent', 'nope'),
    args: fc.oneof(
      fc.integer({ min: 0, max: 8 }).map((value) => `{"value":"${value}"}`),
      fc.constantFrom('', '{"wrong":1}', '{"value":"cut', 'no json'),
    ),
  })
  .map(({ id, name, args }) => call(id, name, args));

const words = fc.constantFrom(text('so'), text(''));
const ending = fc.oneof(
  { weight: 6, arbitrary: fc.constant(finish('tool_calls')) },
  fc.constantFrom(finish('stop'), finish('length'), finish('eos')),
);
const working = fc
  .tuple(words, fc.array(toolCall, { minLength: 1, maxLength: 5 }), ending)
  .map(([said, made, end]) => [said, ...made, end]);
const talking = fc.constantFrom<Script>(says('done'), [finish('stop')], [text('x'), finish('length')]);
const breaking = fc.oneof(
  fc.constantFrom<Script>([failure({ status: 503 })], [failure({ kind: 'connection' })], [failure({ status: 400 })]),
  fc.array(toolCall, { maxLength: 2 }).map((made): ScriptStep[] => [text('par'), ...made, { type: 'close' }]),
);

const death = fc.oneof(
  fc.record({ at: fc.nat(8), fault: fc.constantFrom<BarrierFault['fault']>('before', 'after') }),
  fc.record({ handOverAfter: fc.nat(12) }),
);

const randomTurn: fc.Arbitrary<RandomTurn> = fc.record({
  scripts: fc.array(fc.oneof({ weight: 6, arbitrary: working }, breaking, talking), { maxLength: 8 }),
  deaths: fc.array(death, { maxLength: 3 }),
  cancelAfter: fc.option(fc.nat(30), { freq: 3 }),
});

test('whatever models say and wherever workers die, every call has one result, order is kept, no effect runs twice [G5.20][G7.7][G7.11]', async () => {
  await fc.assert(fc.asyncProperty(randomTurn, checkTurn), { numRuns: RUNS });
}, 300_000);

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

/** Plays the turn through all deaths to its end and checks what must hold. */
async function checkTurn(turn: RandomTurn): Promise<void> {
  const journal = new MemoryJournal();
  const context: TestContext = { started: [], finished: [] };
  const client = scriptedClient((_request, index) => turn.scripts[index] ?? says('end'));
  let run: TestRun | null = null;
  for (const end of [...turn.deaths, null]) {
    const start = journal.messages.length === 0 ? undefined : journal.restart();
    journal.arm(end !== null && 'at' in end ? end : null);
    run = await play(client, { journal, context, tools: TOOLS, ...(start && { start }), ...leaving(end, turn.cancelAfter) });
    if (run.stop.reason === 'handed_over') journal.settle(run.unrecorded);
    else if (run.stop.reason !== 'error' || run.stop.kind !== 'persistence') break;
  }
  if (run === null) throw new Error('no run');
  checkPairs(run.history);
  for (const request of client.requests) checkPairs(request.messages);
  checkStarts(run.history, context, turn.deaths.length > 0);
  checkRepeats(run.history, context);
}

function leaving(end: RandomTurn['deaths'][number], cancelAfter: number | null) {
  const [handOver, cancel] = [new AbortController(), new AbortController()];
  let events = 0;
  const onEvent = (): void => {
    if (end !== null && 'handOverAfter' in end && events === end.handOverAfter) handOver.abort();
    if (end === null && events === cancelAfter) cancel.abort();
    events++;
  };
  return { handOver: handOver.signal, signal: cancel.signal, onEvent };
}

/** Every call has exactly one result, right after its response, and its id is unique. */
function checkPairs(history: readonly ModelMessage[]): void {
  expect(pairHistory(history)).toBe(history);
  const ids = callIds(history);
  expect(new Set(ids).size).toBe(ids.length);
}

/** No call with effects starts twice unless its tool is idempotent; without a death none does. Effects keep the request order. */
function checkStarts(history: readonly ModelMessage[], { started }: TestContext, died: boolean): void {
  const repeatable = new Set(callParts(history).flatMap((part) => (REPEATABLE.has(part.name) ? [part.call_id] : [])));
  const once = died ? started.filter((id) => !repeatable.has(id)) : started;
  expect(new Set(once).size).toBe(once.length);
  const writes = once.filter((id) => !repeatable.has(id));
  const order = callIds(history).filter((id) => writes.includes(id));
  expect(writes.filter((id) => order.includes(id))).toEqual(order);
}

/** Of the same call made twice under one provider id only the first ever starts, in its response and later. */
function checkRepeats(history: readonly ModelMessage[], { started }: TestContext): void {
  const seen = new Set<string>();
  for (const part of callParts(history)) {
    const identity = [part.call_id.replace(/-r\d+$/, ''), part.name, canonicalArguments(part.arguments)].join(' ');
    if (seen.has(identity)) expect(started).not.toContain(part.call_id);
    seen.add(identity);
  }
}

function callIds(history: readonly ModelMessage[]): string[] {
  return callParts(history).map((part) => part.call_id);
}

function callParts(history: readonly ModelMessage[]): ToolCallPart[] {
  return history.flatMap((message) => (message.role === 'assistant' ? message.parts : [])).filter((part) => part.type === 'tool_call');
}
