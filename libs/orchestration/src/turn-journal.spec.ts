import { type ModelMessage, NEW_COUNTERS, type SealedResponse, type SettledCall } from '@echelon/agent-loop';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { insertMessage, listToolCalls, releaseLease, type StoredCall } from '@echelon/persistence';
import { accepted, World } from '../../../test/support/world.js';
import type { ClaimedTurn } from './claim.js';
import { serializeText } from './message-content.js';
import { TurnJournal } from './turn-journal.js';
import { loadStartingPoint } from './turn-start.js';

let world: World;

beforeAll(async () => {
  world = await World.open();
});
afterAll(() => world.close());

const REQUEST = {
  promptId: 'p',
  sendType: 'user',
  model: 'm',
  round: 1,
  attempt: 1,
  counters: NEW_COUNTERS,
  response: null,
  results: [],
  messages: [],
} as const;
const USAGE = { inputTokens: 10, outputTokens: 5, cachedInputTokens: null, reasoningTokens: null };

function responseWith(...callIds: string[]): SealedResponse {
  const calls = callIds.map((callId) => ({ callId, name: 'write_file', arguments: '{"path":"a"}', effect: 'write' as const }));
  const parts = calls.map((call) => ({ type: 'tool_call' as const, call_id: call.callId, name: call.name, arguments: call.arguments }));
  return {
    round: 1,
    model: 'm',
    message: { role: 'assistant', parts: [{ type: 'text', text: 'Working.' }, ...parts] },
    calls,
    reason: 'tool_calls',
    rawReason: 'tool_calls',
    usage: USAGE,
    complete: true,
    abandoned: [],
    counters: { ...NEW_COUNTERS, rounds: 1 },
  };
}

function result(callId: string, text = 'ok'): SettledCall {
  return { callId, name: 'write_file', status: 'succeeded', text, isError: false, endsTurn: false };
}

async function begin(): Promise<{ readonly claimed: ClaimedTurn; readonly journal: TurnJournal }> {
  const task = await world.task();
  const claimed = await world.openTurn(task.sessionId);
  return { claimed, journal: new TurnJournal(world.transactions, claimed) };
}

function callsOf({ turn }: ClaimedTurn): Promise<readonly StoredCall[]> {
  return listToolCalls(world.database, turn.id);
}

describe('the journal', () => {
  test('stores request, response, intents and results, each call with one result', async () => {
    const { claimed, journal } = await begin();
    await journal.prepareRequest(REQUEST);
    await journal.sealResponse(responseWith('a', 'b'), ['a']);
    expect((await callsOf(claimed)).map(({ state }) => state)).toEqual(['intent', 'requested']);
    await journal.recordCalls({ results: [result('a')], intents: ['b'] });
    await journal.recordCalls({ results: [result('b', 'B'), result('a', 'shorter')], intents: [] });
    expect((await callsOf(claimed)).map(({ state, result: text }) => [state, text])).toEqual([
      ['done', 'shorter'],
      ['done', 'B'],
    ]);
    const results = await world.rows(`SELECT id FROM message WHERE turn_id = $1 AND type = 'tool_result'`, [claimed.turn.id]);
    expect(results).toHaveLength(2);
    expect(await world.rows('SELECT state, finish_reason FROM model_request WHERE turn_id = $1', [claimed.turn.id])).toEqual([
      { state: 'sealed', finish_reason: 'tool_calls' },
    ]);
  });

  test('writes nothing for a holder whose lease was taken over [K4]', async () => {
    const { claimed, journal } = await begin();
    await journal.prepareRequest(REQUEST);
    await world.run((unit) => releaseLease(unit, claimed.session.id, 'idle'));
    await world.claim(claimed.session.id);
    expect(await journal.sealResponse(responseWith('a'), ['a'])).toEqual({ status: 'lost' });
    expect(await journal.recordCalls({ results: [], intents: ['a'] })).toEqual({ status: 'lost' });
    expect(await callsOf(claimed)).toEqual([]);
  });

  test('tells of a stop, and writes nothing past it [K18]', async () => {
    const { claimed, journal } = await begin();
    accepted(await world.services.turns.stop(world.operator, claimed.turn.id));
    expect(await journal.prepareRequest(REQUEST)).toEqual({ status: 'stopped' });
    expect(await world.rows('SELECT id FROM model_request WHERE turn_id = $1', [claimed.turn.id])).toEqual([]);
  });

  test('a request without a sealed response is abandoned when the next is prepared [K17]', async () => {
    const { claimed, journal } = await begin();
    await journal.prepareRequest(REQUEST);
    await journal.prepareRequest({ ...REQUEST, attempt: 2 });
    const states = await world.rows<{ state: string }>('SELECT state FROM model_request WHERE turn_id = $1 ORDER BY created_at, id', [
      claimed.turn.id,
    ]);
    expect(states.map(({ state }) => state)).toEqual(['abandoned', 'prepared']);
  });

  test('keeps arguments and results as they were, digits and key order included [K19]', async () => {
    const { claimed, journal } = await begin();
    await journal.prepareRequest(REQUEST);
    const response = responseWith('a');
    const raw = '{"b":1.00,"a":12345678901234567890}';
    await journal.sealResponse({ ...response, calls: [{ callId: 'a', name: 'write_file', arguments: raw, effect: 'write' }] }, []);
    await journal.recordCalls({ results: [result('a', 'lone \ud800, NUL \u0000')], intents: [] });
    expect(await callsOf(claimed)).toMatchObject([{ arguments: raw, result: 'lone \ufffd, NUL \ufffd' }]);
  });
});

describe('a compaction', () => {
  const user = (text: string): ModelMessage => ({ role: 'user', parts: [{ type: 'text', text }] });
  const compaction = { summary: user('Sum.'), instructions: [], model: 'm', usage: USAGE, counters: NEW_COUNTERS };
  const nothing = { response: null, results: [], messages: [] };

  async function work(): Promise<{ readonly claimed: ClaimedTurn; readonly journal: TurnJournal }> {
    const begun = await begin();
    const ids = { sessionId: begun.claimed.session.id, turnId: begun.claimed.turn.id };
    await begun.journal.prepareRequest(REQUEST);
    await begun.journal.sealResponse(responseWith('a'), []);
    await begun.journal.recordCalls({ results: [result('a')], intents: [] });
    await world.run((unit) => insertMessage(unit, { ...ids, type: 'lead', role: 'user', content: serializeText('Faster.') }));
    await begun.journal.prepareRequest({ ...REQUEST, round: 2 });
    await begun.journal.sealResponse({ ...responseWith('b'), round: 2 }, []);
    return begun;
  }

  test('replaces rows for models: the opening and the Leads of the turn stay, and what is unrecorded is stored with it [G7.12][L19]', async () => {
    const { claimed, journal } = await work();
    await journal.compact({ ...compaction, ...nothing, results: [result('b')], kept: 1 });
    await world.run((unit) => releaseLease(unit, claimed.session.id, 'idle'));
    const start = await loadStartingPoint(world.database, await world.claim(claimed.session.id));
    expect(start).toMatchObject({ compacted: 3, replaced: [{ role: 'assistant' }], counters: NEW_COUNTERS });
    expect(start.history.slice(0, -1)).toEqual([user('Sum.'), user('Go on.'), user('Faster.')]);
    expect(start.instructions).toEqual([user('Go on.'), user('Faster.')]);
    expect([...(start.known?.results.keys() ?? [])]).toEqual(['b']);
  });

  test('that leaves nothing of the batch is no batch to enter; a later one takes the place of an earlier one', async () => {
    const { claimed, journal } = await work();
    await journal.compact({ ...compaction, ...nothing, kept: 1 });
    await journal.compact({ ...compaction, ...nothing, results: [result('b')], summary: user('All.'), kept: 0 });
    const { history, known, replaced } = await loadStartingPoint(world.database, claimed);
    expect(history).toEqual([user('All.'), user('Go on.'), user('Faster.')]);
    expect(known).toBeUndefined();
    expect(replaced).toHaveLength(2);
  });

  test('is nothing to a holder whose lease was taken over [K4]', async () => {
    const { claimed, journal } = await work();
    await world.run((unit) => releaseLease(unit, claimed.session.id, 'idle'));
    await world.claim(claimed.session.id);
    expect(await journal.compact({ ...compaction, ...nothing, kept: 1 })).toEqual({ status: 'lost' });
    expect(await loadStartingPoint(world.database, claimed)).not.toHaveProperty('compacted');
  });
});

describe('the starting point', () => {
  test('a new turn starts with its opening prompt', async () => {
    const { claimed } = await begin();
    const opening = { role: 'user', parts: [{ type: 'text', text: 'Go on.' }] };
    expect(await loadStartingPoint(world.database, claimed)).toEqual({ history: [opening], instructions: [opening], subagentTokens: 0 });
  });

  test('an unfinished batch is entered in its middle: known results, and intents without one [K13, K17]', async () => {
    const { claimed, journal } = await begin();
    await journal.prepareRequest(REQUEST);
    await journal.sealResponse(responseWith('a', 'b', 'c'), ['a']);
    await journal.recordCalls({ results: [result('a')], intents: ['b'] });
    const start = await loadStartingPoint(world.database, claimed);
    expect(start.history.at(-1)).toMatchObject({ role: 'assistant' });
    expect(start.known?.results).toEqual(new Map([['a', { text: 'ok', isError: false, endsTurn: false }]]));
    expect(start.known?.intended).toEqual(new Set(['b']));
  });

  test('results of an earlier batch stand in one message, in the order of the calls', async () => {
    const { claimed, journal } = await begin();
    await journal.prepareRequest(REQUEST);
    await journal.sealResponse(responseWith('a', 'b'), ['a', 'b']);
    await journal.recordCalls({ results: [result('b'), result('a')], intents: [] });
    await journal.prepareRequest({ ...REQUEST, round: 2 });
    const answer: SealedResponse = {
      ...responseWith(),
      round: 2,
      message: { role: 'assistant', parts: [{ type: 'text', text: 'Done.' }] },
    };
    await journal.sealResponse(answer, []);
    const { history, answered } = await loadStartingPoint(world.database, claimed);
    expect(history.map(({ role }) => role)).toEqual(['user', 'assistant', 'tool', 'assistant']);
    expect(answered).toEqual({ model: answer.model, reason: answer.reason });
    expect(history[2]?.parts.map((part) => 'call_id' in part && part.call_id)).toEqual(['a', 'b']);
  });
});
