import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { DEFAULT_LIMITS } from '@echelon/domain';
import { newId } from '@echelon/persistence';
import { accepted, type TestTask, World } from '../../../test/support/world.js';
import { QueueService } from './queue.service.js';

let world: World;
let queue: QueueService;

beforeAll(async () => {
  world = await World.open();
  queue = new QueueService(world.transactions, DEFAULT_LIMITS);
});
afterAll(() => world.close());

async function fill(task: TestTask, texts: readonly string[]) {
  const entries = [];
  for (const text of texts) entries.push(await world.prompt(task.sessionId, text));
  return entries.map(({ id }) => ({ sessionId: task.sessionId, entryId: id }));
}

async function texts(task: TestTask): Promise<string> {
  const rows = await world.rows<{ text: string }>(
    `SELECT text FROM queue_entry WHERE session_id = $1 AND state = 'queued' ORDER BY rank, "order"`,
    [task.sessionId],
  );
  return rows.map(({ text }) => text).join('');
}

describe('editing a waiting message', () => {
  test('replaces its text once per revision; the same edit again changes nothing', async () => {
    const task = await world.task();
    const [place = { sessionId: '', entryId: '' }] = await fill(task, ['a']);
    expect(accepted(await queue.edit(world.operator, place, { text: 'b', revision: 1 }))).toMatchObject({ text: 'b', revision: 2 });
    expect(accepted(await queue.edit(world.operator, place, { text: 'b', revision: 1 }))).toMatchObject({ text: 'b', revision: 2 });
    expect(await queue.edit(world.operator, place, { text: 'c', revision: 1 })).toMatchObject({
      code: 'CONFLICT',
      details: { revision: 2 },
    });
    expect(await world.rows("SELECT action FROM audit WHERE subject = $1 AND action = 'entry.edit'", [place.entryId])).toHaveLength(1);
  });

  test('of two operators at once one wins', async () => {
    const task = await world.task();
    const [place = { sessionId: '', entryId: '' }] = await fill(task, ['a']);
    const outcomes = await Promise.all(['b', 'c'].map((text) => queue.edit(world.operator, place, { text, revision: 1 })));
    expect(outcomes.filter((outcome) => 'code' in outcome)).toMatchObject([{ code: 'CONFLICT' }]);
  });

  test('is refused for a delivered entry, a peer’s words, a question, and to agents', async () => {
    const parent = await world.task();
    const child = await world.task({ parent, autopilot: true });
    const [place = { sessionId: '', entryId: '' }] = await fill(child, ['a']);
    const edit = { text: 'b', revision: 1 };
    expect(await queue.edit(world.agent(parent), place, edit)).toMatchObject({ code: 'FORBIDDEN' });
    const sent = accepted(await world.services.messages.send(world.agent(parent), child.id, { prompt: 'p', delivery_mode: 'queued' }));
    expect(await queue.edit(world.operator, { ...place, entryId: sent.delivery_id }, edit)).toMatchObject({
      code: 'FORBIDDEN',
      details: { sender_kind: 'task' },
    });
    const { turn } = await world.claim(child.sessionId);
    expect(await queue.edit(world.operator, place, edit)).toMatchObject({ code: 'ENTRY_NOT_QUEUED', details: { state: 'delivered' } });
    accepted(
      await world.services.questions.askParent(world.agent(child, { turnId: turn.id }), { questions: [{ prompt: 'Which?' }] }, newId()),
    );
    const [question] = await world.entries(parent.sessionId);
    expect(await queue.edit(world.operator, { sessionId: parent.sessionId, entryId: question?.id ?? '' }, edit)).toMatchObject({
      code: 'FORBIDDEN',
      details: { kind: 'question' },
    });
    expect(await queue.edit(world.operator, { sessionId: parent.sessionId, entryId: place.entryId }, edit)).toMatchObject({
      code: 'NOT_FOUND',
    });
  });
});

describe('moving a waiting entry', () => {
  test('changes its place among its rank, and nothing when it stands there', async () => {
    const task = await world.task();
    const [a, b, c] = await fill(task, ['a', 'b', 'c']);
    if (!a || !b || !c) throw new Error('three entries');
    accepted(await queue.move(world.operator, c, { before: a.entryId }));
    expect(await texts(task)).toBe('cab');
    accepted(await queue.move(world.operator, c, { before: a.entryId }));
    expect(await texts(task)).toBe('cab');
    accepted(await queue.move(world.operator, a, { before: null }));
    expect(await texts(task)).toBe('cba');
    expect((await world.claim(task.sessionId)).turn.opening_entry_id).toBe(c.entryId);
    expect(await queue.move(world.operator, b, { before: c.entryId })).toMatchObject({ code: 'INVALID_INPUT' });
  });

  test('never leaves its rank, and an answer keeps its place', async () => {
    const task = await world.task();
    const [a, b] = await fill(task, ['a', 'b']);
    if (!a || !b) throw new Error('two entries');
    await world.rows('UPDATE queue_entry SET rank = 2 WHERE id = $1', [a.entryId]);
    expect(await queue.move(world.operator, b, { before: a.entryId })).toMatchObject({ code: 'INVALID_INPUT' });
    await world.rows("UPDATE queue_entry SET kind = 'answer', rank = 0, question_id = $2 WHERE id = $1", [a.entryId, newId()]);
    expect(await queue.move(world.operator, a, { before: null })).toMatchObject({ code: 'FORBIDDEN', details: { kind: 'answer' } });
  });
});
