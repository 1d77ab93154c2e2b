import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { DEFAULT_RETENTION, type Retention, RETENTION } from '@echelon/domain';
import { deleteOld, lockSequencer, readEventRange, stampEvents } from '@echelon/persistence';
import { World } from '../../../test/support/world.js';
import { applyRetention } from './retention.js';

let world: World;

beforeAll(async () => {
  world = await World.open();
});
afterAll(() => world.close());

/** What could not be deleted. */
async function apply(changed: Partial<Retention> = {}): Promise<string[]> {
  const failed: string[] = [];
  await applyRetention(world.database, { ...DEFAULT_RETENTION, ...changed }, (_error, what) => failed.push(what));
  return failed;
}

async function tell(count: number): Promise<void> {
  for (let number = 0; number < count; number++) {
    await world.run((unit) =>
      unit.tell({ workspaceId: world.workspaceId, type: 'task.updated', taskId: null, sessionId: null, data: { number } }),
    );
  }
  await world.run(async (unit) => {
    await lockSequencer(unit);
    await stampEvents(unit, 100);
  });
}

test('old events go, young ones and the newest stay, and the oldest position is known [K15]', async () => {
  await tell(3);
  await world.rows(`UPDATE event SET created_at = now() - interval '8 days'`);
  await tell(2);
  await apply();
  expect((await world.rows('SELECT id FROM event')).length).toBe(2);
  expect(await readEventRange(world.database)).toEqual({ head: '5', oldest: '4' });
  await world.rows(`UPDATE event SET created_at = now() - interval '8 days'`);
  await apply();
  expect(await world.rows('SELECT position FROM event')).toEqual([{ position: '5' }]);
});

/** A turn that is over and what it left, so many days old. */
async function story(days: number): Promise<string> {
  const { id, sessionId } = await world.task();
  const claimed = await world.openTurn(sessionId);
  const turn = claimed.turn.id;
  await world.endTurn(claimed);
  const age = `now() - interval '${days} days'`;
  await world.rows(`UPDATE turn SET system_prompt = 'You are.', ended_at = ${age} WHERE id = $1`, [turn]);
  const artifactId = `lpad(to_hex((extract(epoch FROM ${age}) * 1000)::bigint), 12, '0') || substr(gen_random_uuid()::text, 14)`;
  await world.rows(
    `INSERT INTO artifact (id, session_id, turn_id, call_id, content, created_at) VALUES ((${artifactId})::uuid, $1, $2, 'c', 'x', ${age})`,
    [sessionId, turn],
  );
  await world.rows(
    `INSERT INTO task_plan_write (task_id, workspace_id, key_hash, body_hash, revision, created_at) VALUES ($1, $2, 'k', 'b', 1, ${age})`,
    [id, world.workspaceId],
  );
  await world.rows(
    `INSERT INTO idempotency_record (token_id, key_hash, body_hash, status, response, created_at) VALUES ($1, 'k', 'b', 200, '', ${age})`,
    [id],
  );
  return id;
}

async function left(taskId: string): Promise<object> {
  const [row] = await world.rows<object>(
    `SELECT (SELECT count(t.system_prompt)::int FROM turn t JOIN session s ON s.id = t.session_id WHERE s.task_id = $1) AS request_texts,
       (SELECT count(*)::int FROM artifact a JOIN session s ON s.id = a.session_id WHERE s.task_id = $1) AS artifacts,
       (SELECT count(*)::int FROM idempotency_record WHERE token_id = $1) AS keyed_results,
       (SELECT count(*)::int FROM task_plan_write WHERE task_id = $1) AS plan_writes,
       (SELECT count(*)::int FROM turn t JOIN session s ON s.id = t.session_id WHERE s.task_id = $1) AS turns`,
    [taskId],
  );
  return row!;
}

test('each thing goes at the age that the table names, and an operator may change it [O24]', async () => {
  const [young, middle, old] = [await story(1), await story(29), await story(31)];
  await apply({ artifacts: 0 });
  expect(await left(young)).toEqual({ request_texts: 1, artifacts: 1, keyed_results: 1, plan_writes: 1, turns: 1 });
  expect(await left(middle)).toEqual({ request_texts: 1, artifacts: 1, keyed_results: 0, plan_writes: 0, turns: 1 });
  expect(await left(old)).toEqual({ request_texts: 0, artifacts: 1, keyed_results: 0, plan_writes: 0, turns: 1 });
  await apply({ artifacts: 30 });
  expect([await left(middle), await left(old)]).toMatchObject([{ artifacts: 1 }, { artifacts: 0 }]);
});

test('audit rows have no retention, and the application may not delete them [O25]', async () => {
  expect(Object.keys(RETENTION)).not.toContain('audit');
  await expect(world.rows('DELETE FROM audit')).rejects.toThrow(/permission denied|append-only|cannot/);
});

test('a sweep deletes in batches and goes on until nothing old is left [O26]', async () => {
  await world.rows(
    `INSERT INTO idempotency_record (token_id, key_hash, body_hash, created_at)
     SELECT gen_random_uuid(), 'k', 'b', now() - interval '3 days' FROM generate_series(1, 1201)`,
  );
  expect(await deleteOld(world.database, 'keyed_results', { days: 2, limit: 500 })).toBe(500);
  await apply();
  expect(await world.rows(`SELECT 1 FROM idempotency_record WHERE created_at < now() - interval '2 days'`)).toEqual([]);
});

test('a kind that cannot be deleted is told, and keeps no other from being deleted', async () => {
  const taskId = await story(31);
  await world.asOwner('ALTER TABLE event RENAME TO event_elsewhere');
  expect(await apply()).toEqual(['events']);
  await world.asOwner('ALTER TABLE event_elsewhere RENAME TO event');
  expect(await left(taskId)).toEqual({ request_texts: 0, artifacts: 0, keyed_results: 0, plan_writes: 0, turns: 1 });
  expect(await apply()).toEqual([]);
});
