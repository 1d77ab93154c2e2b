import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { SpawnSession } from '@echelon/contracts';
import { DEFAULT_LIMITS, type RuntimeKind } from '@echelon/domain';
import { newId } from '@echelon/persistence';
import { accepted, type TestTask, World } from '../../../test/support/world.js';
import { SessionService } from './session.service.js';
import { TaskService } from './task.service.js';

let world: World;
let tasks: TaskService;

beforeAll(async () => {
  world = await World.open();
  tasks = new TaskService(world.database, world.transactions, DEFAULT_LIMITS);
});
afterAll(() => world.close());

const SPAWN: SpawnSession = { kind: 'task', make_primary: false };

function spawn(task: TestTask, input: Partial<SpawnSession> = {}, key: string | null = null) {
  return tasks.spawnSession(world.operator, task.id, { ...SPAWN, ...input }, key);
}

async function sessionsOf(task: TestTask): Promise<readonly { id: string; is_primary: boolean }[]> {
  return world.rows('SELECT id, is_primary FROM session WHERE task_id = $1 ORDER BY created_at, id', [task.id]);
}

async function profile(runtime: RuntimeKind): Promise<string> {
  const id = newId();
  await world.rows(
    `INSERT INTO agent_profile (id, workspace_id, name, runtime, provider, model) SELECT $1, workspace_id, $2, $2, provider, model FROM agent_profile WHERE workspace_id = $3 LIMIT 1`,
    [id, runtime, world.workspaceId],
  );
  return id;
}

describe('starting a session', () => {
  test('goes on with a stopped task: the new session is primary and its turn opens with the task’s prompt', async () => {
    const task = await world.task();
    await world.openTurn(task.sessionId);
    accepted(await tasks.stop(world.operator, task.id, { cascade: false }));
    const spawned = accepted(await spawn(task));
    expect(spawned).toMatchObject({ task_id: task.id, is_primary: true, kind: 'task', state: 'created', deduplicated: false });
    expect(await sessionsOf(task)).toEqual([
      { id: task.sessionId, is_primary: false },
      { id: spawned.id, is_primary: true },
    ]);
    await world.claim(spawned.id);
    expect(await world.taskRow(task.id)).toMatchObject({ state: 'in_progress' });
    expect(await world.entries(spawned.id)).toMatchObject([{ id: spawned.delivery_id, state: 'delivered', sender_kind: 'operator' }]);
  });

  test('leaves a live primary session primary unless asked; there is exactly one', async () => {
    const task = await world.task();
    expect(accepted(await spawn(task)).is_primary).toBe(false);
    const second = accepted(await spawn(task, { make_primary: true }));
    expect((await sessionsOf(task)).filter(({ is_primary }) => is_primary)).toEqual([{ id: second.id, is_primary: true }]);
    const racers = await Promise.all(Array.from({ length: 8 }, () => spawn(task, { make_primary: true })));
    racers.forEach(accepted);
    expect((await sessionsOf(task)).filter(({ is_primary }) => is_primary)).toHaveLength(1);
  });

  test('is for an operator and the direct parent; others change nothing [M13]', async () => {
    const root = await world.task();
    const middle = await world.task({ parent: root });
    const leaf = await world.task({ parent: middle });
    for (const stranger of [root, leaf])
      expect(await tasks.spawnSession(world.agent(stranger), leaf.id, SPAWN, null)).toMatchObject({ code: 'NOT_DIRECT_PARENT' });
    expect(await sessionsOf(leaf)).toHaveLength(1);
    const spawned = accepted(await tasks.spawnSession(world.agent(middle), leaf.id, { ...SPAWN, prompt: 'Again.' }, null));
    expect(await world.entries(spawned.id)).toMatchObject([{ text: 'Again.', sender_kind: 'task', sender_task_id: middle.id }]);
  });

  test('under one key for two tasks at once starts one; the other is told that the key was used', async () => {
    const both = [await world.task(), await world.task()];
    const key = newId();
    const outcomes = await Promise.all(both.map((task) => spawn(task, {}, key)));
    expect(outcomes.filter((outcome) => 'code' in outcome)).toMatchObject([{ code: 'IDEMPOTENCY_MISMATCH' }]);
    expect((await Promise.all(both.map(sessionsOf))).map(({ length }) => length).toSorted()).toEqual([1, 2]);
  });

  test('under a repeated key takes for the same what is stored the same, in whatever order it is given [K16, K19]', async () => {
    const task = await world.task();
    const first = accepted(await spawn(task, { prompt: 'Go on.\ufffd', name: 'second' }, 'form'));
    const again = await tasks.spawnSession(
      world.operator,
      task.id,
      { make_primary: false, name: ' second ', prompt: 'Go on.\0', kind: 'task' },
      'form',
    );
    expect(accepted(again)).toMatchObject({ id: first.id, deduplicated: true });
  });

  test('under a repeated key starts once; another body is refused', async () => {
    const task = await world.task();
    const first = accepted(await spawn(task, {}, 'again'));
    expect(accepted(await spawn(task, {}, 'again'))).toMatchObject({ id: first.id, delivery_id: first.delivery_id, deduplicated: true });
    expect(await spawn(task, { prompt: 'Else.' }, 'again')).toMatchObject({ code: 'IDEMPOTENCY_MISMATCH' });
    expect(await sessionsOf(task)).toHaveLength(2);
  });

  test.each(['quick_chat', 'config', 'utility'] as const)(
    'of kind %s is refused on an autopilot task, and beside a normal one it is never primary [F10, F13]',
    async (kind) => {
      const autopilot = await world.task({ autopilot: true });
      expect(await spawn(autopilot, { kind })).toMatchObject({ code: 'WRONG_SESSION_KIND' });
      expect(await sessionsOf(autopilot)).toHaveLength(1);
      const normal = await world.task();
      await world.endSession(normal, normal.sessionId);
      expect(accepted(await spawn(normal, { kind }))).toMatchObject({ kind, is_primary: false });
      expect(await spawn(normal, { kind, make_primary: true })).toMatchObject({ code: 'WRONG_SESSION_KIND' });
    },
  );

  test.each(['passthrough', 'external'] as const)(
    'of an autopilot task with a %s runtime is refused and nothing starts [F14]',
    async (runtime) => {
      const task = await world.task({ autopilot: true });
      const profileId = await profile(runtime);
      expect(await spawn(task, { profile_id: profileId })).toMatchObject({ code: 'PROFILE_INCOMPATIBLE' });
      expect(await sessionsOf(task)).toHaveLength(1);
      expect(accepted(await spawn(await world.task(), { profile_id: profileId }))).toMatchObject({ runtime });
    },
  );

  test('beyond the sessions that a task may have is refused until one ends [O39]', async () => {
    const few = new TaskService(world.database, world.transactions, { ...DEFAULT_LIMITS, sessions_per_task: 3 });
    const task = await world.task();
    const again = () => few.spawnSession(world.operator, task.id, SPAWN, null);
    const [second] = [accepted(await again()), accepted(await again())];
    expect(await again()).toMatchObject({ code: 'TOO_MANY_SESSIONS', details: { max: 3 } });
    await world.endSession(task, second.id);
    expect(await again()).toMatchObject({ deduplicated: false });
  });

  test('faster than a task may start sessions is refused, at once as later [O39]', async () => {
    const slow = new TaskService(world.database, world.transactions, { ...DEFAULT_LIMITS, spawns_per_task_minute: 2 });
    const task = await world.task();
    const outcomes = await Promise.all(Array.from({ length: 5 }, () => slow.spawnSession(world.operator, task.id, SPAWN, null)));
    const refused = outcomes.filter((outcome) => 'code' in outcome && outcome.code === 'CREATE_RATE_EXCEEDED');
    expect([refused.length, (await sessionsOf(task)).length]).toEqual([3, 3]);
    await world.rows(`UPDATE session SET created_at = created_at - interval '61 seconds' WHERE task_id = $1`, [task.id]);
    expect(await slow.spawnSession(world.operator, task.id, SPAWN, null)).toMatchObject({ deduplicated: false });
  });

  test('of an archived, ended or stopping task is refused', async () => {
    const archived = await world.task();
    accepted(await tasks.archive(world.operator, archived.id));
    expect(await spawn(archived)).toMatchObject({ code: 'TASK_ARCHIVED' });
    const ended = await world.task();
    await world.move(ended, 'complete');
    expect(await spawn(ended)).toMatchObject({ code: 'TASK_TERMINAL' });
  });
});

describe('the queue of a stopped session', () => {
  const stopped = async (): Promise<{ readonly task: TestTask; readonly kept: readonly string[] }> => {
    const task = await world.task({ parent: await world.task() });
    await world.openTurn(task.sessionId);
    const kept = [await world.prompt(task.sessionId, 'First.'), await world.prompt(task.sessionId, 'Second.')];
    accepted(await tasks.stop(world.operator, task.id, { cascade: false }));
    return { task, kept: kept.map(({ id }) => id) };
  };
  const queueOf = async (sessionId: string) =>
    (await world.entries(sessionId)).filter(({ state }) => state === 'queued').map(({ text }) => text);

  test('is paused and kept, across restarts, until somebody starts the next session: it runs behind that one’s prompt [M12]', async () => {
    const { task, kept } = await stopped();
    expect(await world.sessionRow(task.sessionId)).toMatchObject({ state: 'cancelled', auto_run: false });
    expect(await queueOf(task.sessionId)).toEqual(['First.', 'Second.']);
    expect(await world.tryClaim(task.sessionId)).toBeNull();
    const next = accepted(await spawn(task, { prompt: 'Go on.' }));
    expect(await queueOf(next.id)).toEqual(['Go on.', 'First.', 'Second.']);
    expect(await queueOf(task.sessionId)).toEqual([]);
    for (const text of ['Go on.', 'First.', 'Second.']) {
      const claimed = await world.claim(next.id);
      expect((await world.entries(next.id)).find(({ turn_id }) => turn_id === claimed.turn.id)?.text).toBe(text);
      await world.endTurn(claimed);
    }
    for (const id of kept) expect(await world.rows('SELECT state FROM queue_entry WHERE id = $1', [id])).toEqual([{ state: 'delivered' }]);
  });

  test('does not run the prompt twice that the next session starts with [M12]', async () => {
    const task = await world.task();
    await world.prompt(task.sessionId, 'Do it.');
    accepted(await tasks.stop(world.operator, task.id, { cascade: false }));
    const next = accepted(await spawn(task));
    expect(await queueOf(next.id)).toEqual(['Do it.']);
    expect((await world.entries(next.id)).at(-1)).toMatchObject({ state: 'cancelled', cause: 'repeated' });
  });

  test('stays where it is while only a session of another kind is started, and can be taken out meanwhile [M12]', async () => {
    const { task, kept } = await stopped();
    const chat = accepted(await spawn(task, { kind: 'quick_chat' }));
    expect(await queueOf(chat.id)).toHaveLength(1);
    const sessions = new SessionService(world.database, world.transactions);
    accepted(await sessions.removeEntry(world.operator, task.sessionId, kept[0] ?? ''));
    expect(await queueOf(accepted(await spawn(task, { prompt: 'Go on.' })).id)).toEqual(['Go on.', 'Second.']);
  });

  test.each(['complete', 'cancel'] as const)('fails with a task that ends: %s [M12]', async (event) => {
    const { task, kept } = await stopped();
    await world.move(task, event);
    expect(await world.rows('SELECT id, state, cause FROM queue_entry WHERE id = ANY($1) ORDER BY "order"', [kept])).toEqual(
      kept.map((id) => ({ id, state: 'failed', cause: 'task_ended' })),
    );
  });
});
