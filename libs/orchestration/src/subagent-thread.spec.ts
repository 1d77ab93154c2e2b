import { NEW_COUNTERS, type SealedCall, type SealedResponse } from '@echelon/agent-loop';
import { releaseLease } from '@echelon/persistence';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { findBroken } from '../../../test/support/invariants.js';
import { type TestTask, World } from '../../../test/support/world.js';
import type { ClaimedTurn } from './claim.js';
import { TurnArtifacts } from './turn-artifacts.js';
import { TurnJournal } from './turn-journal.js';
import { loadStartingPoint } from './turn-start.js';

let world: World;
beforeAll(async () => {
  world = await World.open();
});
afterAll(() => world.close());

const NOTHING = { response: null, results: [], messages: [] } as const;
const REQUEST = { promptId: 'p', sendType: 'user', model: 'm', round: 1, attempt: 1, counters: NEW_COUNTERS, ...NOTHING } as const;
const ASSIGNMENT = { callId: 'call-1', description: 'look around', prompt: 'Look around.' };

function responseWith(name: string, effect: SealedCall['effect'], text: string): SealedResponse {
  const call = { callId: 'call-1', name, arguments: '{}', effect };
  return {
    ...{ round: 1, model: 'm', reason: 'tool_calls', rawReason: 'tool_calls', complete: true, abandoned: [] },
    message: {
      role: 'assistant',
      parts: [
        { type: 'text', text },
        { type: 'tool_call', call_id: 'call-1', name, arguments: '{}' },
      ],
    },
    calls: [call],
    usage: { inputTokens: 10, outputTokens: 5, cachedInputTokens: null, reasoningTokens: null },
    counters: { ...NEW_COUNTERS, rounds: 1, tokens: 15 },
  };
}

interface Begun {
  readonly task: TestTask;
  readonly claimed: ClaimedTurn;
  readonly journal: TurnJournal;
  readonly thread: TurnJournal;
}

/** A turn whose agent has started a subagent, which is about to run a command under the id that its own call has. */
async function begin(said = 'I run it.'): Promise<Begun> {
  const task = await world.task();
  const claimed = await world.openTurn(task.sessionId);
  const journal = new TurnJournal(world.transactions, claimed);
  await journal.prepareRequest(REQUEST);
  await journal.sealResponse(responseWith('run_subagent', 'agent', 'I delegate.'), ['call-1']);
  const thread = await journal.openThread(ASSIGNMENT);
  await thread.prepareRequest(REQUEST);
  await thread.sealResponse(responseWith('run_command', 'execute', said), ['call-1']);
  return { task, claimed, journal, thread };
}

describe('a subagent’s thread', () => {
  test('is fenced by its agent’s lease: after a takeover nothing is written, not even its end [G7.13, K4]', async () => {
    const { claimed, thread } = await begin();
    await world.run((unit) => releaseLease(unit, claimed.session.id, 'idle'));
    expect(await thread.prepareRequest({ ...REQUEST, round: 2 })).toEqual({ status: 'lost' });
    await thread.close({ ...NOTHING, messages: [{ role: 'user', parts: [{ type: 'text', text: 'late' }] }] });
    expect(await world.rows(`SELECT id FROM message WHERE session_id = $1 AND content LIKE '%late%'`, [claimed.session.id])).toEqual([]);
  });

  test('leaves the history, the rounds and the counters of its agent alone, and adds its tokens to the turn [G7.13]', async () => {
    const { claimed } = await begin();
    const start = await loadStartingPoint(world.database, claimed);
    expect(start.history.map(({ role }) => role)).toEqual(['user', 'assistant']);
    expect(start).toMatchObject({ subagentTokens: 15, known: { intended: new Set(['call-1']) } });
    const [turn] = await world.rows('SELECT rounds, input_tokens, output_tokens FROM turn WHERE id = $1', [claimed.turn.id]);
    expect(turn).toEqual({ rounds: 1, input_tokens: 20, output_tokens: 10 });
  });

  test('is told to the agent whose call was interrupted, not whole where it is long [G7.13]', async () => {
    const brief = await begin();
    const start = await loadStartingPoint(world.database, brief.claimed);
    expect(start.known?.notes?.get('call-1')).toBe(
      'What the subagent had done until then; what its calls changed stays changed.\n' +
        '- was told: Look around.\n- said: I run it.\n- called run_command {}',
    );
    const long = await begin('x'.repeat(100_000));
    const note = (await loadStartingPoint(world.database, long.claimed)).known?.notes?.get('call-1') ?? '';
    expect(note).toContain('xxx…');
    expect(note.length).toBeLessThan(10_000);
  });

  test('settles with its turn: every call has its result where it was made, and its agent’s call says what was done [G7.13]', async () => {
    const { task, claimed } = await begin();
    await world.endSession(task, task.sessionId);
    const results = await world.rows<{ content: string }>(
      `SELECT content FROM message WHERE turn_id = $1 AND type = 'tool_result' ORDER BY thread_id NULLS FIRST`,
      [claimed.turn.id],
    );
    const texts = results.map(
      ({ content }) => (JSON.parse(content) as { readonly parts: readonly { readonly text: string }[] }).parts[0]?.text,
    );
    expect(texts).toEqual([
      expect.stringMatching(/^Unknown: .*\n\nWhat the subagent had done until then[^]*- called run_command/),
      expect.stringMatching(/^Unknown: [^\n]*$/),
    ]);
    expect(await world.rows(`SELECT id FROM model_request WHERE turn_id = $1 AND state = 'prepared'`, [claimed.turn.id])).toEqual([]);
    expect(await findBroken(world.database)).toEqual([]);
  });

  test('keeps the full outputs of its calls beside its agent’s, whose ids they may bear', async () => {
    const { claimed, thread } = await begin();
    const [own, below] = [new TurnArtifacts(world.database, claimed), new TurnArtifacts(world.database, claimed, thread.threadId)];
    const output = { callId: 'call-1', tool: 'run_command' };
    expect(await own.store({ ...output, text: 'of the agent' })).not.toBe(await below.store({ ...output, text: 'of the subagent' }));
  });

  test('compacts for itself: its agent’s history stays as it is', async () => {
    const { claimed, thread } = await begin();
    const summary = { role: 'user', parts: [{ type: 'text', text: 'A summary.' }] } as const;
    const usage = { inputTokens: 7, outputTokens: 1, cachedInputTokens: null, reasoningTokens: null };
    const compaction = {
      ...NOTHING,
      summary,
      instructions: [],
      kept: 0,
      model: 'm',
      usage,
      counters: { ...NEW_COUNTERS, rounds: 1, tokens: 23 },
    };
    expect(await thread.compact(compaction)).toMatchObject({ status: 'committed' });
    const start = await loadStartingPoint(world.database, claimed);
    expect(start.history).toHaveLength(2);
    expect(start.subagentTokens).toBe(23);
    expect(await world.rows(`SELECT counters->'tokens' AS tokens FROM turn WHERE id = $1`, [claimed.turn.id])).toEqual([{ tokens: 15 }]);
  });
});
