import { cpSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { createPool, Database, migrate, newId, readTask } from '@echelon/persistence';
import { createTestDatabase, type TestDatabase } from '@echelon/testkit';
import { toTask } from './task-view.js';

const MIGRATIONS = path.resolve(import.meta.dirname, '../../../prisma/migrations');
const FIRST = '20261130010000_foundation';

let storage: TestDatabase;
let folder: string;

beforeAll(async () => {
  storage = await createTestDatabase({ empty: true });
  folder = mkdtempSync(path.join(tmpdir(), 'echelon-first-'));
});
afterAll(async () => {
  await storage.drop();
  rmSync(folder, { recursive: true });
});

test('a task that an older build stored without the flag reads false after every migration since [F12]', async () => {
  cpSync(path.join(MIGRATIONS, FIRST), path.join(folder, FIRST), { recursive: true });
  expect(await migrate(storage.url, folder)).toEqual([FIRST]);
  const [workspaceId, profileId, id] = [newId(), newId(), newId()];
  await storage.asOwner(`
    INSERT INTO workspace (id, name) VALUES ('${workspaceId}', 'Old');
    INSERT INTO agent_profile (id, workspace_id, name, runtime, provider, model) VALUES ('${profileId}', '${workspaceId}', 'Old', 'loop', 'scripted', 'any');
    INSERT INTO task (id, workspace_id, title, prompt, state, profile_id, folder) VALUES ('${id}', '${workspaceId}', 'Old', 'Do it.', 'ready', '${profileId}', '${id}');
    INSERT INTO session (id, workspace_id, task_id, runtime, profile_id, is_primary) VALUES ('${newId()}', '${workspaceId}', '${id}', 'loop', '${profileId}', true);`);
  expect((await migrate(storage.url, MIGRATIONS)).length).toBeGreaterThan(0);
  const database = new Database(createPool(storage.url, { max: 2 }));
  try {
    const task = await readTask(database, id);
    expect(task && toTask(task)).toMatchObject({ id, autopilot: false });
  } finally {
    await database.close();
  }
});
