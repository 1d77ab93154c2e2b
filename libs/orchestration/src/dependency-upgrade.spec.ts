import path from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { migrate } from '@echelon/persistence';
import { type TestTask, World } from '../../../test/support/world.js';

const MIGRATIONS = path.resolve(import.meta.dirname, '../../../prisma/migrations');

let world: World;

beforeAll(async () => {
  world = await World.open();
});
afterAll(() => world.close());

/** Applies the migration to rows as an earlier build left them: there every end of a blocker released. */
async function upgrade(): Promise<void> {
  await world.asOwner(`DELETE FROM "_prisma_migrations" WHERE migration_name = '20261130084000_released_dependencies'`);
  expect(await migrate(world.url, MIGRATIONS)).toEqual(['20261130084000_released_dependencies']);
}

async function depend(task: TestTask, blocker: TestTask): Promise<void> {
  await world.rows('INSERT INTO task_dependency (task_id, blocked_by_id) VALUES ($1, $2)', [task.id, blocker.id]);
}

async function dependenciesOf({ id }: TestTask): Promise<unknown[]> {
  const rows = await world.rows<{ blocked_by_id: string }>('SELECT blocked_by_id FROM task_dependency WHERE task_id = $1', [id]);
  return rows.map(({ blocked_by_id }) => blocked_by_id);
}

describe('after the upgrade to the rule that only completion releases', () => {
  test.each(['ready', 'in_progress', 'review'] as const)('a task in %s that a failed blocker had released goes on', async (state) => {
    const [task, failed] = [await world.task({ state }), await world.task({ state: 'failed' })];
    await world.prompt(task.sessionId);
    await depend(task, failed);
    expect(await world.tryClaim(task.sessionId)).toBeNull();
    await upgrade();
    expect(await dependenciesOf(task)).toEqual([]);
    expect(await world.sessionRow(task.sessionId)).toMatchObject({ runnable: true, announced_at: null });
    await world.claim(task.sessionId);
    expect(await world.rows('SELECT actor, action, detail FROM audit WHERE subject = $1', [task.id])).toEqual([
      {
        actor: 'system',
        action: 'task.remove_dependency',
        detail: { depends_on: failed.id, reason: 'it had released the task before the upgrade' },
      },
    ]);
  });

  test('a task that is blocked still is, and one that was held for work under way is held on', async () => {
    const blocked = await world.task({ state: 'blocked' });
    const started = await world.task({ state: 'in_progress' });
    const [failed, open, completed] = [await world.task({ state: 'failed' }), await world.task(), await world.task({ state: 'completed' })];
    await depend(blocked, failed);
    await depend(started, open);
    await depend(started, completed);
    await world.prompt(started.sessionId);
    await upgrade();
    expect(await dependenciesOf(blocked)).toEqual([failed.id]);
    expect(await dependenciesOf(started)).toEqual([open.id, completed.id]);
    expect(await world.tryClaim(started.sessionId)).toBeNull();
  });
});
