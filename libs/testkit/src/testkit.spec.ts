import { once } from 'node:events';
import { createServer } from 'node:net';
import { describe, expect, test } from '@jest/globals';
import pg from 'pg';
import { createTestDatabase, findFreePort, startScript, startSystemPostgres, startTestRedis, waitFor } from './index.js';
import { describeScaledOut, describeWithRedis } from './jest.js';

describe('a test database', () => {
  test('has our schema and nothing of another spec', async () => {
    const [one, two] = await Promise.all([createTestDatabase(), createTestDatabase()]);
    const client = new pg.Client(one.url);
    await client.connect();
    const { rows } = await client.query<{ marks: number }>('select count(*)::int as marks from _prisma_migrations');
    expect(rows[0]?.marks).toBeGreaterThan(0);
    await client.end();
    expect(one.url).not.toBe(two.url);
    await Promise.all([one.drop(), two.drop()]);
  });
});

describe('a program', () => {
  test('runs from sources, is heard line by line, and can be killed', async () => {
    const program = startScript(`
      import { waitFor } from '@echelon/testkit';
      console.log('waits', typeof waitFor);
      setInterval(() => undefined, 1000);`);
    expect(await program.line(/^waits/)).toBe('waits function');
    expect(await program.kill()).toEqual({ code: null, signal: 'SIGKILL' });
  });

  test('that ends without the awaited line fails the wait, with what it said', async () => {
    const program = startScript(`console.error('no such luck'); process.exit(3)`);
    await expect(program.line(/^ready/)).rejects.toThrow(/the program ended \(3\)[^]*no such luck/);
  });
});

test('waiting for a fact returns its first answer', async () => {
  const answers = [undefined, false, null, 0];
  expect(await waitFor('an answer', () => answers.shift())).toBe(0);
});

describeWithRedis('a test Redis', () => {
  test('answers on an address of its own until it is stopped', async () => {
    const [one, two] = await Promise.all([startTestRedis(), startTestRedis()]);
    expect(one.url).not.toBe(two.url);
    await Promise.all([one.stop(), two.stop()]);
  });
});

describeScaledOut("the system's Postgres", () => {
  test('starts apart from ours, with an empty database behind a password', async () => {
    const postgres = await startSystemPostgres();
    const client = new pg.Client(postgres.url);
    await client.connect();
    const { rows } = await client.query<{ tables: number }>("select count(*)::int as tables from pg_tables where schemaname = 'public'");
    expect(rows).toEqual([{ tables: 0 }]);
    await client.end();
    await postgres.stop();
  });
});

test('a free port can be listened on', async () => {
  const port = await findFreePort();
  const server = createServer().listen(port, '127.0.0.1');
  await once(server, 'listening');
  server.close();
});
