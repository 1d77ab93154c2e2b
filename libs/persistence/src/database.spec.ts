import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { createTestDatabase, type TestDatabase } from '@echelon/testkit';
import { applicationRole, createPool, Database, violatedConstraint } from './index.js';

let storage: TestDatabase;
let database: Database;

beforeAll(async () => {
  storage = await createTestDatabase();
  database = new Database(createPool(storage.url, { max: 4 }));
});

beforeEach(async () => {
  await storage.asOwner(`
    DROP TABLE IF EXISTS line;
    CREATE TABLE line (id int CONSTRAINT line_key PRIMARY KEY, text text);
    GRANT ALL ON line TO ${applicationRole(storage.url)}`);
});

afterAll(async () => {
  await database.close();
  await storage.drop();
});

const INSERT = 'INSERT INTO line (id, text) VALUES ($1, $2)';
const lines = () => database.query<{ id: number }>('SELECT id FROM line ORDER BY id');

describe('a transaction', () => {
  test('runs its statements in the order in which they were given, awaited or not', async () => {
    const rows = await database.transaction(async (tx) => {
      tx.send(INSERT, [1, 'one']);
      const [first, second] = [tx.query('SELECT id FROM line'), tx.query(`${INSERT} RETURNING id`, [2, 'two'])];
      tx.send('UPDATE line SET text = $2 WHERE id = $1', [2, 'zwei']);
      return [await first, await second, await tx.query('SELECT text FROM line WHERE id = $1', [2])];
    });
    expect(rows).toEqual([[{ id: 1 }], [{ id: 2 }], [{ text: 'zwei' }]]);
  });

  test('is not committed when a statement fails whose answer nobody awaited', async () => {
    await database.query(INSERT, [1, 'one']);
    const committed = database.transaction(async (tx) => {
      tx.send(INSERT, [2, 'two']);
      tx.send(INSERT, [1, 'again']);
    });
    await expect(committed).rejects.toMatchObject({ constraint: 'line_key' });
    expect(await lines()).toEqual([{ id: 1 }]);
  });

  test('fails with its first failure, not with what that did to the statements after it', async () => {
    await database.query(INSERT, [1, 'one']);
    const failed = database.transaction(async (tx) => {
      tx.send(INSERT, [1, 'again']);
      await tx.query('SELECT id FROM line');
    });
    expect(violatedConstraint(await failed.catch((error: unknown) => error))).toBe('line_key');
  });

  test('takes no statement after one part of its work has failed, however long another goes on', async () => {
    let late: Promise<void> | undefined;
    const failed = database.transaction(async (tx) => {
      late = tx.query('SELECT pg_sleep(0.05)').then(() => tx.send(INSERT, [1, 'late']));
      await Promise.all([late, Promise.reject(new Error('changed my mind'))]);
    });
    await expect(failed).rejects.toThrow('changed my mind');
    await expect(late).rejects.toThrow('the transaction is over');
    expect(await lines()).toEqual([]);
  });

  test('leaves its connection fit for the next one when its work throws', async () => {
    const thrown = database.transaction(async (tx) => {
      tx.send(INSERT, [1, 'one']);
      throw new Error('changed my mind');
    });
    await expect(thrown).rejects.toThrow('changed my mind');
    expect(await database.transaction((tx) => tx.query('SELECT id FROM line'))).toEqual([]);
  });
});

test('a migration under open connections breaks no statement that they have prepared', async () => {
  const readAll = () => Promise.all(Array.from({ length: 4 }, () => database.transaction((tx) => tx.query('SELECT * FROM line'))));
  await database.query(INSERT, [1, 'one']);
  await readAll();
  await storage.asOwner('ALTER TABLE line ADD COLUMN mark text');
  expect((await readAll()).flat()).toEqual(Array.from({ length: 4 }, () => ({ id: 1, text: 'one', mark: null })));
  await storage.asOwner('ALTER TABLE line DROP COLUMN mark');
  expect(await Promise.all(Array.from({ length: 4 }, () => database.query('SELECT * FROM line')))).toHaveLength(4);
});
