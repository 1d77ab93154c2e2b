/** Workers of a released build run beside a newer schema: a migration after it takes nothing away and asks for nothing more. */
import { cpSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { createTestDatabase, type TestDatabase } from '@echelon/testkit';
import pg from 'pg';
import { migrate } from './migrate.js';

const MIGRATIONS = path.resolve(import.meta.dirname, '../../../prisma/migrations');
/** The last migration that a released build knows. */
const RELEASED = '20261130070000_task_plan';
/** No released build writes these. */
const UNWRITTEN = ['workflow_step'];

interface Column {
  readonly column: string;
  readonly type: string;
  readonly required: boolean;
}

let database: TestDatabase;
let client: pg.Client;
let released: readonly Column[];
let newest: readonly Column[];

beforeAll(async () => {
  database = await createTestDatabase({ empty: true });
  client = new pg.Client(database.url);
  await client.connect();
  const directory = mkdtempSync(path.join(tmpdir(), 'echelon-released-'));
  for (const name of readdirSync(MIGRATIONS).filter((each) => each <= RELEASED))
    cpSync(path.join(MIGRATIONS, name), path.join(directory, name), { recursive: true });
  await migrate(database.url, directory);
  rmSync(directory, { recursive: true });
  released = await columns();
  await migrate(database.url, MIGRATIONS);
  newest = await columns();
});
afterAll(async () => {
  await client.end();
  await database.drop();
});

/** Required is what an INSERT must name. */
async function columns(): Promise<readonly Column[]> {
  const { rows } = await client.query<Column>(
    `SELECT table_name || '.' || column_name AS column, udt_name AS type,
       is_nullable = 'NO' AND column_default IS NULL AND is_identity = 'NO' AND is_generated = 'NEVER' AS required
     FROM information_schema.columns WHERE table_schema = 'public' AND table_name <> '_prisma_migrations' AND table_name <> ALL($1)`,
    [UNWRITTEN],
  );
  return rows;
}

const tableOf = ({ column }: Column) => column.slice(0, column.indexOf('.'));

test('every column that a released build reads and writes is there, of its type, and no other must be written [O13]', () => {
  const later = new Map(newest.map((each) => [each.column, each]));
  expect(released.length).toBeGreaterThan(100);
  for (const { column, type } of released) expect(later.get(column)).toMatchObject({ column, type });
  const tables = new Set(released.map(tableOf));
  const asked = newest.filter((each) => each.required && tables.has(tableOf(each)));
  expect(asked.filter(({ column }) => !released.some((each) => each.required && each.column === column))).toEqual([]);
});
