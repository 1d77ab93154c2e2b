import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { TurnRow } from '@echelon/persistence';
import { answer, ASK, readQuestion, say, waitingChild } from '../../../test/support/waiting-child.js';
import { accepted, type TestTask, World } from '../../../test/support/world.js';
import { expireQuestion } from './ending.js';

let world: World;

beforeAll(async () => {
  world = await World.open();
});
afterAll(() => world.close());

function turnsOf(sessionId: string): Promise<readonly TurnRow[]> {
  return world.rows<TurnRow>('SELECT * FROM turn WHERE session_id = $1 ORDER BY number', [sessionId]);
}

describe('races', () => {
  test('of answer, operator’s prompt, end of the parent and time-out have one winner, and losers no effect [R12] [K8]', async () => {
    for (let group = 0; group < 6; group++) {
      const ended = await Promise.all(Array.from({ length: 4 }, (_, trial) => race(group + trial)));
      expect(ended).not.toContain('pending');
    }
  });

  /** One race, its contenders started in an order of its own; checks that only the winner left something behind. */
  async function race(trial: number): Promise<string> {
    const one = await waitingChild(world);
    const contenders = [
      () => answer(world, one, world.agent(one.parent)),
      () => say(world, world.operator, one.child.id),
      () => world.move(one.parent, 'complete'),
      () => expireQuestion(world.transactions, one.questionId),
    ];
    await Promise.all(contenders.map((_, index) => contenders[(index + trial) % contenders.length]!()));
    const status = (await readQuestion(world, one.questionId)).status;
    const entries = await world.entries(one.child.sessionId);
    expect(entries.filter(({ kind }) => kind === 'answer')).toHaveLength(status === 'answered' ? 1 : 0);
    expect(entries.filter(({ kind }) => kind === 'notice')).toHaveLength(status === 'stale' ? 1 : 0);
    expect(entries.filter(({ kind, rank }) => kind === 'prompt' && rank === 0)).toHaveLength(status === 'superseded' ? 1 : 0);
    expect((await world.entries(one.parent.sessionId)).filter(({ state }) => state === 'queued')).toEqual([]);
    expect(await world.tryClaim(one.child.sessionId)).not.toBeNull();
    return status;
  }
});

describe('a hierarchy of four levels', () => {
  test('relays a question hop by hop, records the chain, and brings the answers back with one turn a level [R14] [R15]', async () => {
    const top = await world.task({ title: 'L0' });
    const upper = await world.task({ parent: top, autopilot: true, title: 'L1' });
    const lower = await world.task({ parent: upper, autopilot: true, title: 'L2' });
    const leaf = await world.task({ parent: lower, autopilot: true, title: 'L3' });

    const first = await askIn(leaf, await world.openTurn(leaf.sessionId));
    const second = await askIn(lower, await world.claim(lower.sessionId));
    const third = await askIn(upper, await world.claim(upper.sessionId));

    const { hops } = accepted(await world.services.questions.chain(world.operator, second));
    expect(hops.map(({ id, task_id, caused_by_question_id }) => ({ id, task_id, caused_by_question_id }))).toEqual([
      { id: first, task_id: leaf.id, caused_by_question_id: null },
      { id: second, task_id: lower.id, caused_by_question_id: first },
      { id: third, task_id: upper.id, caused_by_question_id: second },
    ]);

    for (const [parent, child, questionId] of [
      [top, upper, third],
      [upper, lower, second],
      [lower, leaf, first],
    ] as const) {
      const claimed = await world.claim(parent.sessionId);
      const one = { parent, child, questionId };
      for (const task of [top, upper, lower, leaf].filter(({ id }) => id !== parent.id)) {
        expect(await answer(world, one, world.agent(task))).toMatchObject({ code: 'QUESTION_NOT_YOURS' });
      }
      expect(accepted(await answer(world, one, world.agent(parent, { turnId: claimed.turn.id }))).status).toBe('sent');
      await world.endTurn(claimed);
    }
    await world.endTurn(await world.claim(leaf.sessionId));
    const counts = await Promise.all([top, upper, lower, leaf].map(async ({ sessionId }) => (await turnsOf(sessionId)).length));
    expect(counts).toEqual([1, 2, 2, 2]);
    for (const { sessionId } of [top, upper, lower, leaf]) expect(await world.tryClaim(sessionId)).toBeNull();
  });

  test('asks on for the sake of the same question, until that one is answered [R14]', async () => {
    const top = await world.task();
    const middle = await world.task({ parent: top, autopilot: true });
    const leaf = await world.task({ parent: middle, autopilot: true });
    const first = await askIn(leaf, await world.openTurn(leaf.sessionId), 'one');
    const second = await askIn(middle, await world.claim(middle.sessionId), 'two');
    accepted(await answer(world, { parent: top, child: middle, questionId: second }, world.agent(top)));
    const third = await askIn(middle, await world.claim(middle.sessionId), 'three');
    accepted(await answer(world, { parent: top, child: middle, questionId: third }, world.agent(top)));
    const relaying = await world.claim(middle.sessionId);
    accepted(await answer(world, { parent: middle, child: leaf, questionId: first }, world.agent(middle)));
    const fourth = await askIn(middle, relaying, 'four');
    const causes = await Promise.all([second, third, fourth].map((id) => readQuestion(world, id)));
    expect(causes).toMatchObject([{ caused_by_question_id: first }, { caused_by_question_id: first }, { caused_by_question_id: null }]);
  });

  async function askIn(task: TestTask, claimed: Awaited<ReturnType<World['claim']>>, key = 'ask'): Promise<string> {
    const actor = world.agent(task, { turnId: claimed.turn.id });
    const { question_id } = accepted(await world.services.questions.askParent(actor, ASK, key));
    await world.endTurn(claimed);
    return question_id;
  }
});
