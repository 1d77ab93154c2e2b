import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { createTestDatabase, startFaultProxy, type TestDatabase, waitFor } from '@echelon/testkit';
import { createPool } from './pool.js';

let database: TestDatabase;

beforeAll(async () => {
  database = await createTestDatabase();
});

afterAll(() => database.drop());

describe('a pool', () => {
  test('speaks UTC and says who it is', async () => {
    const pool = createPool(database.url, { max: 1, applicationName: 'echelon-spec' });
    const { rows } = await pool.query(`select current_setting('TimeZone') as zone, current_setting('application_name') as name`);
    expect(rows).toEqual([{ zone: 'UTC', name: 'echelon-spec' }]);
    await pool.end();
  });

  test('ends a statement that takes longer than it may', async () => {
    const pool = createPool(database.url, { max: 1, statementTimeoutMs: 50 });
    await expect(pool.query('select pg_sleep(60)')).rejects.toThrow('statement timeout');
    await pool.end();
  });

  test('survives the loss of a connection that is in use: only its statements fail', async () => {
    const { hostname, port } = new URL(database.url);
    const proxy = await startFaultProxy({ host: hostname, port: Number(port) });
    const pool = createPool(proxy.through(database.url), { max: 1 });
    const connection = await pool.connect();
    const failed = expect(Promise.all([connection.query('select 1'), connection.query('select pg_sleep(60)')])).rejects.toThrow();
    proxy.cut();
    await failed;
    await expect(connection.query('select 1')).rejects.toThrow();
    connection.release(true);
    await pool.end();
    await proxy.close();
  });

  test('survives the loss of its idle connections and works again when the server is back', async () => {
    const { hostname, port } = new URL(database.url);
    const proxy = await startFaultProxy({ host: hostname, port: Number(port) });
    const pool = createPool(proxy.through(database.url), { max: 2 });
    await pool.query('select 1');
    proxy.cut();
    await waitFor('the pool has noticed', () => pool.totalCount === 0);
    await expect(pool.query('select 1')).rejects.toThrow();
    proxy.resume();
    expect((await pool.query<{ alive: number }>('select 1 as alive')).rows).toEqual([{ alive: 1 }]);
    await pool.end();
    await proxy.close();
  });
});
