import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { ENTRY_KINDS, queueEntryMachine, questionMachine, sessionMachine, taskMachine, turnMachine } from '@echelon/domain';
import { createPool, Database, newId } from '@echelon/persistence';
import { createTestDatabase, type TestDatabase } from '@echelon/testkit';

let storage: TestDatabase;
let database: Database;

beforeAll(async () => {
  storage = await createTestDatabase();
  database = new Database(createPool(storage.url, { max: 4 }));
});
afterAll(async () => {
  await database.close();
  await storage.drop();
});

/** The quoted words of a check constraint that are listed after its column. */
async function allowedBy(constraint: string): Promise<readonly string[]> {
  const [row] = await database.query<{ definition: string }>(
    'SELECT pg_get_constraintdef(oid) AS definition FROM pg_constraint WHERE conname = $1',
    [constraint],
  );
  const list = /ARRAY\[(.*)\]/.exec(row?.definition ?? '')?.[1] ?? '';
  return [...list.matchAll(/'([a-z_]+)'/g)].map(([, word]) => word ?? '').toSorted();
}

describe('the database’s checks', () => {
  test.each([
    ['task_state_check', taskMachine.states],
    ['session_state_check', sessionMachine.states],
    ['turn_status_check', turnMachine.states],
    ['queue_entry_state_check', queueEntryMachine.states],
    ['message_question_check', questionMachine.states],
    ['queue_entry_kind_check', ENTRY_KINDS],
  ] as const)('%s lists the states of the domain’s table', async (constraint, words) => {
    expect(await allowedBy(constraint)).toEqual([...words].toSorted());
  });
});

describe('the database itself', () => {
  const workspaceId = newId();
  const profileId = newId();

  beforeAll(async () => {
    await database.query('INSERT INTO workspace (id, name) VALUES ($1, $2)', [workspaceId, workspaceId]);
    await database.query(
      `INSERT INTO agent_profile (id, workspace_id, name, runtime, provider, model) VALUES ($1, $2, 'p', 'loop', 'scripted', 'm')`,
      [profileId, workspaceId],
    );
  });

  async function insertTask(parentId: string | null = null, workspace = workspaceId): Promise<string> {
    const id = newId();
    await database.query(
      `INSERT INTO task (id, workspace_id, parent_id, title, prompt, state, profile_id, folder) VALUES ($1, $2, $3, 't', 'p', 'ready', $4, 'f')`,
      [id, workspace, parentId, profileId],
    );
    return id;
  }

  test('refuses to change autopilot, whoever asks, and keeps the value [F6, I6]', async () => {
    const id = await insertTask();
    await expect(database.query('UPDATE task SET autopilot = true WHERE id = $1', [id])).rejects.toThrow(
      'task.autopilot is fixed at creation',
    );
    await expect(database.prisma.task.update({ where: { id }, data: { autopilot: true } })).rejects.toThrow(/autopilot/);
    expect(await database.query('SELECT autopilot FROM task WHERE id = $1', [id])).toEqual([{ autopilot: false }]);
  });

  test('refuses a task that would be its own ancestor [I6]', async () => {
    const root = await insertTask();
    const child = await insertTask(root);
    await expect(database.query('UPDATE task SET parent_id = $1 WHERE id = $2', [child, root])).rejects.toThrow('its own ancestor');
  });

  test('refuses a dependency cycle', async () => {
    const [a, b] = [await insertTask(), await insertTask()];
    await database.query('INSERT INTO task_dependency (task_id, blocked_by_id) VALUES ($1, $2)', [a, b]);
    await expect(database.query('INSERT INTO task_dependency (task_id, blocked_by_id) VALUES ($1, $2)', [b, a])).rejects.toThrow(
      'cannot form a cycle',
    );
  });

  test('refuses a parent of another workspace [O1]', async () => {
    const other = newId();
    await database.query('INSERT INTO workspace (id, name) VALUES ($1, $2)', [other, other]);
    const stranger = newId();
    await database.query(
      `INSERT INTO agent_profile (id, workspace_id, name, runtime, provider, model) VALUES ($1, $2, 'p', 'loop', 'scripted', 'm')`,
      [stranger, other],
    );
    const parent = await insertTask();
    await expect(
      database.query(
        `INSERT INTO task (id, workspace_id, parent_id, title, prompt, state, profile_id, folder) VALUES ($1, $2, $3, 't', 'p', 'ready', $4, 'f')`,
        [newId(), other, parent, stranger],
      ),
    ).rejects.toThrow('task_parent_fkey');
  });

  test('lets nobody change or delete an audit row, not even the owner [O25]', async () => {
    await database.query(`INSERT INTO audit (id, actor, action, subject) VALUES ($1, 'a', 'b', 'c')`, [newId()]);
    await expect(storage.asOwner(`UPDATE audit SET actor = 'x'`)).rejects.toThrow('audit rows cannot be changed');
    await expect(storage.asOwner('DELETE FROM audit')).rejects.toThrow('audit rows cannot be changed');
  });

  test('lets no session run without a lease [I4]', async () => {
    const task = await insertTask();
    const run = `INSERT INTO session (id, workspace_id, task_id, state, runtime, profile_id) VALUES ($1, $2, $3, 'running', 'loop', $4)`;
    await expect(database.query(run, [newId(), workspaceId, task, profileId])).rejects.toThrow('session_running_check');
  });

  test('lets a task have one primary session [I1]', async () => {
    const task = await insertTask();
    const insert = `INSERT INTO session (id, workspace_id, task_id, is_primary, runtime, profile_id) VALUES ($1, $2, $3, true, 'loop', $4)`;
    await database.query(insert, [newId(), workspaceId, task, profileId]);
    await expect(database.query(insert, [newId(), workspaceId, task, profileId])).rejects.toThrow('session_one_primary');
  });
});
