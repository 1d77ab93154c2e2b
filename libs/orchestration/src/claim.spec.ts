import { afterAll, beforeAll, expect, test } from '@jest/globals';
import type { TurnRow } from '@echelon/persistence';
import { accepted, World } from '../../../test/support/world.js';

let world: World;

beforeAll(async () => {
  world = await World.open();
});
afterAll(() => world.close());

test('a claim opens the turn of the next entry with a new epoch, and holds the session [K3]', async () => {
  const task = await world.task();
  const entry = await world.prompt(task.sessionId, 'Build it.');
  const claimed = await world.claim(task.sessionId);
  expect(claimed.lease.epoch).toBe('1');
  expect(claimed.turn).toMatchObject({ number: 1, status: 'running', opening_entry_id: entry.id });
  expect(await world.sessionRow(task.sessionId)).toMatchObject({ state: 'running', lease_epoch: '1' });
  expect(await world.taskRow(task.id)).toMatchObject({ state: 'in_progress' });
  expect(await world.entries(task.sessionId)).toMatchObject([{ state: 'delivered', turn_id: claimed.turn.id }]);
});

test('a held session is not claimed again [K3]', async () => {
  const task = await world.task();
  await world.openTurn(task.sessionId);
  await world.prompt(task.sessionId);
  expect(await world.tryClaim(task.sessionId)).toBeNull();
});

test('a session without work is not claimed', async () => {
  const task = await world.task();
  expect(await world.tryClaim(task.sessionId)).toBeNull();
  expect(await world.sessionRow(task.sessionId)).toMatchObject({ state: 'created', lease_epoch: '0' });
});

test('where a pending question cannot be read, nothing opens until it can [A18]', async () => {
  const task = await world.task();
  await world.prompt(task.sessionId);
  await world.asOwner('ALTER TABLE message RENAME TO message_unreadable');
  await expect(world.tryClaim(task.sessionId)).rejects.toThrow(/message/);
  await world.asOwner('ALTER TABLE message_unreadable RENAME TO message');
  expect(await world.sessionRow(task.sessionId)).toMatchObject({ state: 'created', lease_owner: null, runnable: true });
  expect(await world.entries(task.sessionId)).toMatchObject([{ state: 'queued' }]);
  expect((await world.claim(task.sessionId)).turn.number).toBe(1);
});

test('of 50 claims at once one wins, and one turn opens [K3]', async () => {
  const task = await world.task();
  await world.prompt(task.sessionId);
  const claims = await Promise.all(Array.from({ length: 50 }, () => world.tryClaim(task.sessionId)));
  expect(claims.filter((claimed) => claimed !== null)).toHaveLength(1);
  expect(await world.rows<TurnRow>('SELECT * FROM turn WHERE session_id = $1', [task.sessionId])).toHaveLength(1);
});

test('the opening text is the first message of the turn', async () => {
  const task = await world.task();
  await world.prompt(task.sessionId, 'Say "hi" and 😀.');
  const { turn } = await world.claim(task.sessionId);
  const messages = await world.rows<{ content: string; role: string }>('SELECT content, role FROM message WHERE turn_id = $1', [turn.id]);
  expect(messages).toHaveLength(1);
  expect(messages[0]?.role).toBe('user');
  expect(JSON.parse(messages[0]?.content ?? '')).toEqual({ version: 1, parts: [{ type: 'text', text: 'Say "hi" and 😀.' }] });
});

test('an entry for an unheld session is announced with its transaction; one for a held session is not [K1]', async () => {
  const task = await world.task();
  await world.prompt(task.sessionId);
  expect(world.announced.filter((id) => id === task.sessionId)).toHaveLength(1);
  await world.claim(task.sessionId);
  await world.prompt(task.sessionId);
  expect(world.announced.filter((id) => id === task.sessionId)).toHaveLength(1);
  const outbox = await world.rows('SELECT id FROM outbox WHERE session_id = $1', [task.sessionId]);
  expect(outbox).toHaveLength(1);
});

test('every announcement has an id of its own [K2]', async () => {
  const task = await world.task();
  await world.prompt(task.sessionId);
  await world.prompt(task.sessionId);
  const outbox = await world.rows<{ id: string }>('SELECT id FROM outbox WHERE session_id = $1', [task.sessionId]);
  expect(new Set(outbox.map(({ id }) => id)).size).toBe(2);
});

test('a waiting child is claimed for its answer and for nothing else [K6]', async () => {
  const parent = await world.task();
  const child = await world.task({ parent, autopilot: true });
  const turn = await world.openTurn(child.sessionId);
  const asked = accepted(await world.services.questions.askParent(world.agent(child), { questions: [{ prompt: 'Which?' }] }, 'k'));
  await world.endTurn(turn);
  await world.run((unit) =>
    unit.query(
      `INSERT INTO queue_entry (id, workspace_id, session_id, rank, "order", kind, text, sender_kind)
    VALUES (gen_random_uuid(), $1, $2, 3, 999, 'prompt', 'A peer.', 'task')`,
      [world.workspaceId, child.sessionId],
    ),
  );
  expect(await world.tryClaim(child.sessionId)).toBeNull();
  accepted(
    await world.services.messages.send(world.agent(parent), child.id, {
      prompt: 'This.',
      delivery_mode: 'queued',
      reply_to_question_id: asked.question_id,
    }),
  );
  const claimed = await world.claim(child.sessionId);
  expect((await world.entries(child.sessionId)).find(({ turn_id }) => turn_id === claimed.turn.id)?.kind).toBe('answer');
});
