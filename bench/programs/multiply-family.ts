/**
 * Copies of a family that really asked: every row of a parent, its children and their sessions again under ids of its own. What the
 * service would take minutes for; the rows are the same. Triggers and references are not checked, as a dump is restored.
 */
import pg from 'pg';

/** The rows of a family, by the table that holds them; `$1` is the parent's task. */
const TASKS = 'SELECT id FROM task WHERE id = $1 OR parent_id = $1';
const SESSIONS = `SELECT id FROM session WHERE task_id IN (${TASKS})`;
const ROWS: Readonly<Record<string, string>> = {
  task: `id IN (${TASKS})`,
  session: `id IN (${SESSIONS})`,
  turn: `session_id IN (${SESSIONS})`,
  queue_entry: `session_id IN (${SESSIONS})`,
  message: `session_id IN (${SESSIONS})`,
  model_request: `session_id IN (${SESSIONS})`,
  tool_call: `session_id IN (${SESSIONS})`,
};

/** Copies the family of a parent so often; the copy `n` of an id is `md5(id:n)`. */
export async function multiplyFamily(databaseUrl: string, parentId: string, copies: number): Promise<void> {
  const client = new pg.Client(databaseUrl);
  await client.connect();
  try {
    await client.query('BEGIN; SET LOCAL session_replication_role = replica');
    const rows = await readFamily(client, parentId);
    const own = new Set(rows.map(({ id }) => id));
    for (const { table, text } of rows) await copyRow(client, { table, text, ids: idsIn(text, own), copies });
    await client.query('COMMIT; ANALYZE');
  } finally {
    await client.end();
  }
}

interface FamilyRow {
  readonly table: string;
  readonly id: string;
  readonly text: string;
}

async function readFamily(client: pg.Client, parentId: string): Promise<readonly FamilyRow[]> {
  const rows: FamilyRow[] = [];
  for (const [table, condition] of Object.entries(ROWS)) {
    const found = await client.query<FamilyRow>(
      `SELECT $2::text AS table, r.id::text, row_to_json(r)::text AS text FROM ${table} r WHERE ${condition}`,
      [parentId, table],
    );
    rows.push(...found.rows);
  }
  return rows;
}

function idsIn(text: string, own: ReadonlySet<string>): readonly string[] {
  const found = text.match(/[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/g) ?? [];
  return [...new Set(found)].filter((id) => own.has(id));
}

async function copyRow(
  client: pg.Client,
  { table, text, ids, copies }: Pick<FamilyRow, 'table' | 'text'> & { readonly ids: readonly string[]; readonly copies: number },
): Promise<void> {
  const replaced = ids.reduce((inner, id) => `replace(${inner}, '${id}', md5('${id}:' || copy)::uuid::text)`, '$1::text');
  await client.query(
    `INSERT INTO ${table} SELECT (jsonb_populate_record(NULL::${table}, (${replaced})::jsonb || '${UNKEYED}')).* FROM generate_series(1, $2) AS copy`,
    [text, copies],
  );
}

/** A copy was not created under its original's key. */
const UNKEYED = JSON.stringify({ idempotency_scope: null, idempotency_key_hash: null, idempotency_body_hash: null });
