import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeEach, afterEach, describe, expect, test } from '@jest/globals';
import { takePresence } from '@echelon/persistence';
import { createTestDatabase, startFaultProxy, type TestDatabase, waitFor } from '@echelon/testkit';
import pg from 'pg';
import { type Config, readConfig } from './config.js';
import { restoreDeployment } from './restore.js';
import { openStorage } from './storage.js';

const dataDir = mkdtempSync(path.join(tmpdir(), 'echelon-restore-spec-'));
let storage: TestDatabase;
let config: Config;

beforeEach(async () => {
  storage = await createTestDatabase({ empty: true });
  config = readConfig({ DATABASE_URL: storage.url, ECHELON_DATA_DIR: dataDir });
});
afterEach(() => storage.drop());
afterAll(() => rmSync(dataDir, { recursive: true, force: true }));

async function read(sql: string): Promise<unknown[]> {
  const client = new pg.Client(storage.url);
  await client.connect();
  return (await client.query<object>(sql).finally(() => client.end())).rows;
}

const inUse = { code: 'database_in_use', message: 'An Echelon works on this database: stop every server and worker first.' };
const restoring = {
  code: 'restore_running',
  message: 'A restore works on this database: wait until it has ended, then start again.',
};
const HOLDERS = `SELECT l.pid FROM pg_locks l JOIN pg_stat_activity a USING (pid)
  WHERE l.locktype = 'advisory' AND l.granted AND a.datname = current_database() AND a.application_name = 'echelon-process'`;

describe('a restore', () => {
  test('migrates and prepares a database that nobody works on', async () => {
    expect(await restoreDeployment(config)).toMatchObject({ interrupted_turns: 0, revoked_tokens: 0, token: null });
    expect(await read(`SELECT action FROM audit`)).toEqual([{ action: 'deployment.restore' }]);
  });

  test('changes nothing, and migrates nothing, while a process has its storage open, be it a server without a worker', async () => {
    const server = await openStorage(config);
    await storage.asOwner('DELETE FROM "_prisma_migrations"');
    await expect(restoreDeployment(config)).rejects.toMatchObject(inUse);
    expect(await read('SELECT migration_name FROM "_prisma_migrations"')).toEqual([]);
    await server.close();
  });

  test('is refused beside a presence that holds nothing else', async () => {
    await (await openStorage(config)).close();
    const presence = await takePresence(storage.url, { renewed: () => undefined, lost: () => undefined });
    await expect(restoreDeployment(config)).rejects.toMatchObject(inUse);
    await presence.close();
    expect(await restoreDeployment(config)).toMatchObject({ token: null });
  });

  test('keeps every start and every other restore away until it has ended [O22]', async () => {
    const first = await openStorage(config, { alone: true });
    await expect(restoreDeployment(config)).rejects.toMatchObject(restoring);
    await expect(openStorage(config)).rejects.toMatchObject(restoring);
    await first.close();
    await (await openStorage(config)).close();
  });

  test('fails when the connection of its lock has ended', async () => {
    const restored = await openStorage(config, { alone: true });
    await restored.assertAlone();
    await storage.asOwner(
      `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'echelon-restore' AND datname = current_database()`,
    );
    await expect(restored.assertAlone()).rejects.toMatchObject({ code: 'restore_lost' });
    await restored.close();
  });

  test('of two that begin at once is told of the other, or follows it', async () => {
    const results = await Promise.allSettled([restoreDeployment(config), restoreDeployment(config)]);
    const restores = await read(`SELECT action FROM audit WHERE action = 'deployment.restore'`);
    const refused = results.filter((result) => result.status === 'rejected');
    expect(restores).toHaveLength(2 - refused.length);
    for (const { reason } of refused) expect(reason).toMatchObject(restoring);
  });
});

test('a process whose connection was lost is seen again, and lets go when its storage is closed', async () => {
  const { hostname, port } = new URL(storage.url);
  const proxy = await startFaultProxy({ host: hostname, port: Number(port) });
  const server = await openStorage({ ...config, databaseUrl: proxy.through(storage.url) });
  proxy.cut();
  await waitFor('its lock is gone', async () => (await read(HOLDERS)).length === 0);
  proxy.resume();
  await waitFor('its lock is back', async () => (await read(HOLDERS)).length === 1);
  await expect(restoreDeployment(config)).rejects.toMatchObject(inUse);
  await server.close();
  expect(await restoreDeployment(config)).toMatchObject({ token: null });
  await proxy.close();
});
