import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { DEFAULT_LIMITS } from '@echelon/domain';
import { lockDeleted, newId } from '@echelon/persistence';
import { failingTransactions, InjectedFailure } from '../../../test/support/failing-database.js';
import { findBroken } from '../../../test/support/invariants.js';
import { ROOT } from '../../../test/support/reached-root.js';
import { waitingChild } from '../../../test/support/waiting-child.js';
import { accepted, World } from '../../../test/support/world.js';
import { resumeDeletions } from './task-delete.js';
import { purgeDeleted, type TaskFolders } from './task-purge.js';
import { TaskService } from './task.service.js';

let world: World;
let tasks: TaskService;

beforeAll(async () => {
  world = await World.open();
  tasks = new TaskService(world.database, world.transactions, { ...DEFAULT_LIMITS, creates_per_tree_minute: 1_000 });
});
afterAll(() => world.close());

const ALONE = { cascade: false };
const CREATE = { prompt: 'More.', autopilot: false, blocked_by: [], start_agent: true };

const removed: string[] = [];
const FOLDERS = { rootId: ROOT.id, remove: async (folder: string) => void removed.push(folder) };
const failed: { readonly error: unknown; readonly taskId: string }[] = [];
const log = { info: () => undefined, warn: () => undefined, error: (facts: object) => void failed.push(facts as (typeof failed)[number]) };
const purgeWith = (folders: TaskFolders, transactions = world.transactions) =>
  purgeDeleted(world.database, transactions, { folders, log, afterSeconds: -1 });
const purge = () => purgeWith(FOLDERS);
const failures = () => failed.splice(0);

describe('purging what was deleted', () => {
  test('leaves no row that names the task or its sessions but events and audit, and the invariants hold all along [O19, O20]', async () => {
    const task = await world.task({ autopilot: true, parent: await world.task() });
    const child = await waitingChild(world, task);
    const claimed = await world.openTurn(task.sessionId);
    await world.endTurn(claimed);
    accepted(await tasks.delete(world.operator, task.id, ALONE));
    expect(await findBroken(world.database)).toEqual([]);
    expect(await purge()).toBeGreaterThan(0);
    expect(await namesOf([task.id, task.sessionId, claimed.turn.id])).toEqual(['audit', 'event']);
    expect(await findBroken(world.database)).toEqual([]);
    expect(removed).toContain(task.id);
    accepted(await tasks.get(world.operator, child.child.id));
    expect(await purge()).toBe(0);
  });

  test('that fails at any statement leaves the invariants whole, and the next pass goes on', async () => {
    for (let statement = 1, stopped = true; stopped; statement++) {
      const task = await world.task({ autopilot: true, parent: await world.task() });
      await world.endTurn(await world.openTurn(task.sessionId));
      await waitingChild(world, task);
      accepted(await tasks.delete(world.operator, task.id, ALONE));
      await purgeWith(FOLDERS, failingTransactions(world.database, statement));
      const errors = failures().map(({ error }) => error);
      for (const error of errors) expect(error).toBeInstanceOf(InjectedFailure);
      stopped = errors.length > 0;
      expect(await findBroken(world.database)).toEqual([]);
      await purge();
      expect(await namesOf([task.id, task.sessionId])).toEqual(['audit', 'event']);
    }
  });

  test('goes in batches: one that fails keeps what went before it, and is done by the next pass [O19]', async () => {
    const task = await world.task();
    const claimed = await world.openTurn(task.sessionId);
    await world.endTurn(claimed);
    accepted(await tasks.delete(world.operator, task.id, ALONE));
    const stuck = { ...FOLDERS, remove: () => Promise.reject(new Error('in use')) };
    expect(await purgeWith(stuck)).toBe(0);
    expect(failures()).toMatchObject([{ taskId: task.id, error: { message: 'in use' } }]);
    expect(await namesOf([claimed.turn.id])).not.toContain('turn');
    expect(await namesOf([task.id])).toContain('task');
    await purge();
    expect(await namesOf([task.id])).toEqual(['audit', 'event']);
  });

  test('passes over a task whose folder cannot be removed, and over a page full of them', async () => {
    await purge();
    const ids: string[] = [];
    for (let at = 0; at < 101; at++) ids.push((await world.task()).id);
    await world.rows(
      `UPDATE task SET deleted_at = now() - interval '1 day', state = 'cancelled', ended_at = now() WHERE id = ANY($1::uuid[])`,
      [ids],
    );
    const last = await world.task();
    accepted(await tasks.delete(world.operator, last.id, ALONE));
    const remove = (folder: string) => (folder === last.id ? Promise.resolve() : Promise.reject(new Error('read-only')));
    expect(await purgeWith({ ...FOLDERS, remove })).toBe(1);
    expect(
      failures()
        .map(({ taskId }) => taskId)
        .toSorted(),
    ).toEqual(ids.toSorted());
    expect((await purge()) + (await purge())).toBe(101);
  });

  test('holds no lock while a folder is removed, and what another process purges meanwhile is no failure [O19]', async () => {
    const task = await world.task();
    await world.endTurn(await world.openTurn(task.sessionId));
    accepted(await tasks.delete(world.operator, task.id, ALONE));
    const inner: number[] = [];
    const remove = async () => void inner.push(await purge());
    expect(await purgeWith({ ...FOLDERS, remove })).toBe(0);
    expect([inner, failures()]).toEqual([[1], []]);
  });

  test('leaves a task alone that another process is at', async () => {
    const task = await world.task();
    await world.endTurn(await world.openTurn(task.sessionId));
    accepted(await tasks.delete(world.operator, task.id, ALONE));
    await world.run(async (unit) => {
      await lockDeleted(unit, task.id);
      expect(await purge()).toBe(0);
    });
    expect(failures()).toEqual([]);
    expect(await purge()).toBe(1);
  });

  test('references nothing from the audit: its rows outlive what they speak of [O20]', async () => {
    expect(await world.rows(`SELECT conname FROM pg_constraint WHERE conrelid = 'audit'::regclass AND contype = 'f'`)).toEqual([]);
  });

  test('waits until whoever ran it has noticed, and for what is still below it', async () => {
    await purge();
    const [top, recent] = [await world.task(), await world.task()];
    const below = await world.task({ parent: top });
    accepted(await tasks.delete(world.operator, recent.id, ALONE));
    await world.rows(`UPDATE task SET deleted_at = now() - interval '1 hour', state = 'cancelled' WHERE id = $1`, [top.id]);
    expect(await purgeDeleted(world.database, world.transactions, { folders: FOLDERS, log })).toBe(0);
    expect(await resumeDeletions(world.database, world.transactions)).toBe(1);
    expect(await purge()).toBe(3);
    expect(await namesOf([below.id])).toEqual(['audit', 'event']);
  });

  test('takes a folder along with the last task that works in it', async () => {
    const place = { ...CREATE, workspace_id: world.workspaceId };
    const owner = accepted(await tasks.create(world.operator, place, null));
    const heir = accepted(await tasks.create(world.operator, { ...CREATE, parent_id: owner.id, workspace_mode: 'inherit_parent' }, null));
    accepted(await tasks.delete(world.operator, owner.id, ALONE));
    expect(await purge()).toBe(1);
    expect(removed).not.toContain(owner.id);
    accepted(await tasks.delete(world.operator, heir.id, ALONE));
    expect(await purge()).toBe(1);
    expect(removed).toContain(owner.id);
    expect(removed).not.toContain(heir.id);
  });

  test('leaves a task whose folder lies where this process does not reach', async () => {
    const task = await world.task();
    const root = newId();
    await world.rows(`INSERT INTO workspace_root (id, host, path) VALUES ($1, 'far', '/far')`, [root]);
    await world.rows('INSERT INTO task_folder (folder, workspace_id, workspace_root_id) VALUES ($1::text, $2, $3)', [
      task.id,
      world.workspaceId,
      root,
    ]);
    accepted(await tasks.delete(world.operator, task.id, ALONE));
    expect(await purge()).toBe(0);
    const far = { ...FOLDERS, rootId: root };
    expect(await purgeWith(far)).toBe(1);
    expect(await world.rows('SELECT 1 FROM task_folder WHERE folder = $1', [task.id])).toEqual([]);
  });
});

/** Tables with a row that holds one of the ids in an id column. */
async function namesOf(ids: readonly string[]): Promise<readonly string[]> {
  const columns = await world.rows<{ table_name: string; column_name: string }>(
    `SELECT c.table_name, c.column_name FROM information_schema.columns c JOIN information_schema.tables t USING (table_schema, table_name)
     WHERE c.table_schema = 'public' AND t.table_type = 'BASE TABLE' AND (c.data_type = 'uuid' OR c.column_name IN ('subject', 'folder'))`,
  );
  const tables = new Set<string>();
  for (const { table_name: table, column_name: column } of columns) {
    const rows = await world.rows(`SELECT 1 FROM "${table}" WHERE "${column}"::text = ANY($1::text[]) LIMIT 1`, [ids]);
    if (rows.length > 0) tables.add(table);
  }
  return [...tables].toSorted();
}
