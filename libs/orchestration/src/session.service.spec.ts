import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { DEFAULT_LIMITS } from '@echelon/domain';
import { insertMessage, newId } from '@echelon/persistence';
import { accepted, type TestTask, World } from '../../../test/support/world.js';
import { serializeText } from './message-content.js';
import { SessionService } from './session.service.js';
import { TaskService } from './task.service.js';

let world: World;
let sessions: SessionService;

beforeAll(async () => {
  world = await World.open();
  sessions = new SessionService(world.database, world.transactions);
});
afterAll(() => world.close());

async function say(task: TestTask, texts: readonly string[], options: { readonly type?: string; readonly hidden?: boolean } = {}) {
  const { type = 'prompt', hidden = false } = options;
  for (const text of texts)
    await world.run((unit) =>
      insertMessage(unit, { sessionId: task.sessionId, turnId: null, type, role: 'user', content: serializeText(text), hidden }),
    );
}

async function foreignAgent() {
  const id = newId();
  await world.rows('INSERT INTO workspace (id, name) VALUES ($1, $2)', [id, id]);
  return { ...world.agent(await world.task()), workspaceId: id };
}

describe('a conversation', () => {
  test('is read from its end backwards, and from any place forwards, in order', async () => {
    const task = await world.task();
    await say(task, ['1', '2', '3', '4', '5']);
    const texts = async (query: object) => {
      const page = accepted(await sessions.listMessages(world.operator, { sessionId: task.sessionId, limit: 2, ...query }));
      return [page.items.map(({ parts }) => parts[0]?.['text']).join(''), page.next_cursor];
    };
    expect(await texts({})).toEqual(['45', '4']);
    expect(await texts({ before: 4 })).toEqual(['23', '2']);
    expect(await texts({ before: 2 })).toEqual(['1', null]);
    expect(await texts({ after: 0 })).toEqual(['12', '2']);
    expect(await texts({ after: 3 })).toEqual(['45', null]);
    expect(await sessions.listMessages(world.operator, { sessionId: task.sessionId, limit: 2, before: 3, after: 1 })).toMatchObject({
      code: 'INVALID_INPUT',
    });
  });

  test('is filtered by type before it is cut into pages', async () => {
    const task = await world.task();
    await say(task, ['a', 'b']);
    await say(task, ['c'], { type: 'note' });
    await say(task, ['d', 'e']);
    const page = accepted(await sessions.listMessages(world.operator, { taskId: task.id, limit: 2, types: ['note'] }));
    expect(page.items.map(({ sequence }) => sequence)).toEqual([3]);
    expect(page.next_cursor).toBeNull();
  });

  test('of a task is its primary session’s; a session of another task is refused', async () => {
    const [task, other] = [await world.task(), await world.task()];
    await world.session(task);
    await say(task, ['primary']);
    const page = accepted(await sessions.listMessages(world.operator, { taskId: task.id, limit: 5 }));
    expect(page.items.map(({ session_id }) => session_id)).toEqual([task.sessionId]);
    expect(await sessions.listMessages(world.operator, { taskId: task.id, sessionId: other.sessionId, limit: 5 })).toMatchObject({
      code: 'SESSION_NOT_OF_TASK',
    });
  });

  test('shows hidden messages to operators only: the question of a child is a record there [V2]', async () => {
    const parent = await world.task();
    const child = await world.task({ parent, autopilot: true });
    const { turn } = await world.openTurn(child.sessionId);
    const ask = { questions: [{ prompt: 'Which?' }] };
    accepted(await world.services.questions.askParent(world.agent(child, { turnId: turn.id }), ask, newId()));
    const types = async (actor: typeof world.operator | ReturnType<typeof world.agent>) =>
      accepted(await sessions.listMessages(actor, { taskId: child.id, limit: 50 })).items.map(({ type }) => type);
    expect(await types(world.operator)).toContain('parent_question');
    expect(await types(world.agent(await world.task()))).not.toContain('parent_question');
  });
});

describe('sessions', () => {
  test('of a task are listed from new to old with what they wait for', async () => {
    const task = await world.task();
    const newer = await world.session(task);
    const { turn } = await world.openTurn(task.sessionId);
    const listed = accepted(await sessions.listByTask(world.operator, task.id));
    expect(listed.items.map(({ id }) => id)).toEqual([newer, task.sessionId]);
    expect(listed.items[1]).toMatchObject({ is_primary: true, state: 'running', current_turn_id: turn.id, pending_action: null });
    expect(accepted(await sessions.get(world.operator, task.sessionId))).toEqual(listed.items[1]);
  });

  test('of another workspace do not exist', async () => {
    const task = await world.task();
    const agent = await foreignAgent();
    const page = { limit: 5 };
    for (const outcome of [
      await sessions.get(agent, task.sessionId),
      await sessions.listByTask(agent, task.id),
      await sessions.listMessages(agent, { taskId: task.id, limit: 5 }),
      await sessions.listTurns(agent, task.sessionId, page),
      await sessions.listQueue(agent, task.sessionId, page),
      await sessions.setAutoRun(agent, task.sessionId, false),
      await sessions.removeEntry(agent, task.sessionId, newId()),
    ])
      expect(outcome).toMatchObject({ code: 'NOT_FOUND' });
  });

  test('have turns, from new to old', async () => {
    const task = await world.task();
    for (let n = 0; n < 3; n++) await world.endTurn(await world.openTurn(task.sessionId));
    const first = accepted(await sessions.listTurns(world.operator, task.sessionId, { limit: 2 }));
    const rest = accepted(await sessions.listTurns(world.operator, task.sessionId, { limit: 2, cursor: first.next_cursor ?? '' }));
    expect([...first.items, ...rest.items].map(({ number }) => number)).toEqual([3, 2, 1]);
    expect(first.items[0]).toMatchObject({ status: 'finished', outcome: 'completed', session_id: task.sessionId });
  });
});

describe('a queue', () => {
  test('is listed in the order of delivery, page by page; only operator, sender and receiver read its texts', async () => {
    const parent = await world.task();
    const task = await world.task({ parent });
    const bystander = world.agent(await world.task());
    await world.prompt(task.sessionId, 'first');
    accepted(await world.services.messages.send(world.agent(parent), task.id, { prompt: 'from the parent', delivery_mode: 'queued' }));
    await world.rows('UPDATE queue_entry SET rank = 1 WHERE session_id = $1 AND sender_task_id = $2', [task.sessionId, parent.id]);
    const first = accepted(await sessions.listQueue(world.operator, task.sessionId, { limit: 1 }));
    const rest = accepted(await sessions.listQueue(world.operator, task.sessionId, { limit: 1, cursor: first.next_cursor ?? '' }));
    expect([first, rest].map(({ items }) => items[0]?.sender_kind)).toEqual(['task', 'operator']);
    expect(rest.next_cursor).toBeNull();
    const texts = async (agent: typeof bystander) =>
      accepted(await sessions.listQueue(agent, task.sessionId, { limit: 5 })).items.map(({ text }) => text.includes('from the parent'));
    expect(await texts(world.agent(task))).toEqual([true, false]);
    expect(await texts(world.agent(parent))).toEqual([true, false]);
    expect(await texts(bystander)).toEqual([false, false]);
    const shown = accepted(await sessions.listQueue(bystander, task.sessionId, { limit: 5 }));
    expect(shown.items.map(({ text }) => text)).toEqual(['', '']);
  });

  test('lets its operator and a sender take a waiting entry out, once', async () => {
    const parent = await world.task();
    const task = await world.task({ parent });
    const sent = accepted(await world.services.messages.send(world.agent(parent), task.id, { prompt: 'hello', delivery_mode: 'queued' }));
    const mine = await world.prompt(task.sessionId);
    expect(await sessions.removeEntry(world.agent(task), task.sessionId, sent.delivery_id)).toMatchObject({ code: 'FORBIDDEN' });
    expect(await sessions.removeEntry(world.agent(parent), task.sessionId, mine.id)).toMatchObject({ code: 'FORBIDDEN' });
    expect(accepted(await sessions.removeEntry(world.agent(parent), task.sessionId, sent.delivery_id)).state).toBe('cancelled');
    expect((await world.sessionRow(task.sessionId)).runnable).toBe(true);
    accepted(await sessions.removeEntry(world.operator, task.sessionId, mine.id));
    expect((await world.sessionRow(task.sessionId)).runnable).toBe(false);
    expect(await sessions.removeEntry(world.operator, task.sessionId, mine.id)).toMatchObject({ code: 'ENTRY_NOT_QUEUED' });
    expect(await sessions.removeEntry(world.operator, parent.sessionId, mine.id)).toMatchObject({ code: 'NOT_FOUND' });
  });

  test('keeps what somebody waits for: a question stays, and so does its reminder', async () => {
    const parent = await world.task();
    const child = await world.task({ parent, autopilot: true });
    const { turn } = await world.openTurn(child.sessionId);
    const ask = { questions: [{ prompt: 'Which?' }] };
    accepted(await world.services.questions.askParent(world.agent(child, { turnId: turn.id }), ask, newId()));
    const [entry] = await world.entries(parent.sessionId);
    expect(await sessions.removeEntry(world.operator, parent.sessionId, entry?.id ?? '')).toMatchObject({
      code: 'FORBIDDEN',
      details: { kind: 'question' },
    });
    await world.rows("UPDATE queue_entry SET kind = 'reminder' WHERE id = $1", [entry?.id]);
    expect(await sessions.removeEntry(world.operator, parent.sessionId, entry?.id ?? '')).toMatchObject({
      code: 'FORBIDDEN',
      details: { kind: 'reminder' },
    });
  });

  test('is paused and resumed with its entries kept, and announced when it goes on', async () => {
    const parent = await world.task();
    const task = await world.task({ parent });
    await world.prompt(task.sessionId);
    expect(accepted(await sessions.setAutoRun(world.operator, task.sessionId, false)).auto_run).toBe(false);
    expect(await world.tryClaim(task.sessionId)).toBeNull();
    expect(await world.entries(task.sessionId)).toMatchObject([{ state: 'queued' }]);
    expect(await sessions.setAutoRun(world.agent(task), task.sessionId, true)).toMatchObject({ code: 'NOT_DIRECT_PARENT' });
    const before = world.announced.filter((id) => id === task.sessionId).length;
    expect(accepted(await sessions.setAutoRun(world.agent(parent), task.sessionId, true)).auto_run).toBe(true);
    expect(world.announced.filter((id) => id === task.sessionId)).toHaveLength(before + 1);
    expect(await world.tryClaim(task.sessionId)).not.toBeNull();
  });

  test('of a session that has ended is not resumed', async () => {
    const task = await world.task();
    accepted(await new TaskService(world.database, world.transactions, DEFAULT_LIMITS).stop(world.operator, task.id, { cascade: false }));
    expect(await sessions.setAutoRun(world.operator, task.sessionId, true)).toMatchObject({ code: 'SESSION_TERMINAL' });
  });
});
