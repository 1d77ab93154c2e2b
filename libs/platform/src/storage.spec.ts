import { afterEach, describe, expect, test } from '@jest/globals';
import { createPool } from '@echelon/persistence';
import { createTestDatabase } from '@echelon/testkit';
import { openStorage } from './storage.js';

test('an address whose options would replace ours is refused: nothing may work as the owner unnoticed', async () => {
  const storage = await createTestDatabase({ empty: true });
  const databaseUrl = `${storage.url}?options=-c%20statement_timeout%3D5s`;
  await expect(openStorage({ databaseUrl, migrationDatabaseUrl: null, dataDir: '/nowhere' })).rejects.toThrow(
    /^DATABASE_URL may not carry "options"/,
  );
  await storage.drop();
});

describe('an address without a user', () => {
  const { PGUSER, PGPASSWORD } = process.env;
  afterEach(() => {
    for (const [name, value] of Object.entries({ PGUSER, PGPASSWORD })) {
      if (value === undefined) delete process.env[name];
      else process.env[name] = value;
    }
  });

  function withoutUser(url: string): string {
    const given = new URL(url);
    given.username = given.password = '';
    return given.href;
  }

  test('means the one that the environment names: that login works, what the owner of ECHELON_MIGRATION_DATABASE_URL made', async () => {
    const storage = await createTestDatabase({ empty: true });
    const login = `unnamed_${process.pid}`;
    await storage.asOwner(`CREATE ROLE ${login} LOGIN PASSWORD 'word'`);
    Object.assign(process.env, { PGUSER: login, PGPASSWORD: 'word' });
    const databaseUrl = withoutUser(storage.url);
    const opened = await openStorage({ databaseUrl, migrationDatabaseUrl: storage.url, dataDir: '/nowhere' });
    const pool = createPool(opened.url, { max: 1 });
    expect((await pool.query('SELECT session_user AS login FROM setting LIMIT 1')).rows).toEqual([{ login }]);
    await pool.end();
    await opened.close();
    await storage.asOwner(`DROP ROLE ${login}`);
    await storage.drop();
  });

  test('whose login the server does not know is told in one sentence', async () => {
    const storage = await createTestDatabase({ empty: true });
    process.env['PGUSER'] = `nobody_${process.pid}`;
    await expect(
      openStorage({ databaseUrl: withoutUser(storage.url), migrationDatabaseUrl: storage.url, dataDir: '/nowhere' }),
    ).rejects.toMatchObject({ code: 'database_unreachable', message: expect.stringMatching(/DATABASE_URL names it with a user/) });
    await storage.drop();
  });
});
