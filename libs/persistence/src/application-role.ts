/**
 * The role that the application works as: it owns nothing, so that no code of ours can drop a table, disable a trigger, or rewrite
 * the audit (operations.md, Trust).
 *
 * R1  Each database has a role of its own: who may work on one deployment may do nothing in another on the same server.
 * R2  What the role may do with a table is written here and nowhere else, and held exactly: more is taken back, less is given.
 * R3  Roles and grants of a database change under its migrations' advisory lock, one connection after another.
 */
import { createHash } from 'node:crypto';
import pg from 'pg';
import { takeMigrationLock } from './migration-lock.js';

const PREFIX = 'echelon_app_';
/** A role's name has at most 63 bytes. */
const PLAIN_NAME = /^[a-z0-9_]{1,51}$/;

type Privilege = 'SELECT' | 'INSERT' | 'UPDATE' | 'DELETE' | 'USAGE';

const READ_AND_WRITE: readonly Privilege[] = ['SELECT', 'INSERT', 'UPDATE', 'DELETE'];
/** Rows that are never changed; where they follow their task's deletion, the database removes them as their owner. */
const APPEND_ONLY: readonly Privilege[] = ['SELECT', 'INSERT'];
const SEQUENCE: readonly Privilege[] = ['SELECT', 'USAGE', 'UPDATE'];

/** Tables that the role may not do everything with. */
const RESTRICTED: Readonly<Record<string, readonly Privilege[]>> = {
  'public._prisma_migrations': ['SELECT'],
  'public.audit': APPEND_ONLY,
  // Never changed; retention deletes them.
  'public.task_plan_write': ['SELECT', 'INSERT', 'DELETE'],
  'public.tool_list': APPEND_ONLY,
};

/** A database and a login as an address names them, or the environment where it is silent, as every connection of ours resolves them. */
export function resolveAddress(url: string): { readonly database: string; readonly login: string } {
  const { database, user } = new pg.Client({ connectionString: url });
  return { database: database ?? '', login: user ?? '' };
}

/** Name of the role of the database that `url` names; one that needs no quotes, whatever the database is called. */
export function applicationRole(url: string): string {
  const { database } = resolveAddress(url);
  if (PLAIN_NAME.test(database)) return PREFIX + database;
  const digest = createHash('sha256').update(database).digest('hex').slice(0, 16);
  const readable = database.toLowerCase().replaceAll(/[^a-z0-9_]+/g, '_');
  return `${PREFIX}${readable.slice(0, 30)}_${digest}`;
}

/** Settings of every connection that works as the application: its role, and K19's time zone. */
export function sessionOptions(url: string): string {
  return `-c role=${applicationRole(url)} -c TimeZone=UTC`;
}

/** Makes the role where it is missing, and `login` its member. Rejects with Postgres' error where the connected login may not. */
export function prepareRole(client: pg.Client, role: string, login: string): Promise<void> {
  return inTurn(client, async () => {
    const { rows } = await client.query<{ made: boolean; member: boolean }>(
      `SELECT r.oid IS NOT NULL AS made, coalesce(pg_has_role(l.oid, r.oid,
         CASE WHEN current_setting('server_version_num')::int >= 160000 THEN 'SET' ELSE 'MEMBER' END), false) AS member
       FROM (SELECT 1) AS one LEFT JOIN pg_roles r ON r.rolname = $1 LEFT JOIN pg_roles l ON l.rolname = $2`,
      [role, login],
    );
    if (!rows[0]?.made) await client.query(`CREATE ROLE ${role} NOLOGIN`);
    if (!rows[0]?.member) await client.query(`GRANT ${role} TO ${client.escapeIdentifier(login)}`);
  });
}

/**
 * Gives `role` exactly what it may do in `schema`: use it, and read and write its rows, less where a table is restricted.
 * The connected login owns the tables. What is right already is left untouched.
 */
export function grantSchema(client: pg.Client, schema: string, role: string): Promise<void> {
  return inTurn(client, async () => {
    const held = await listHeld(client, schema, role);
    const changes = held.filter((relation) => !holdsExactly(relation)).map((relation) => rewrite(client, relation, role));
    if (!(await isUsable(client, schema, role))) changes.push(`GRANT USAGE ON SCHEMA ${client.escapeIdentifier(schema)} TO ${role}`);
    if (changes.length > 0) await client.query(changes.join(';'));
  });
}

async function isUsable(client: pg.Client, schema: string, role: string): Promise<boolean> {
  const { rows } = await client.query<{ usable: boolean }>(`SELECT has_schema_privilege($2, $1, 'USAGE') AS usable`, [schema, role]);
  return rows[0]?.usable === true;
}

interface Held {
  readonly schema: string;
  readonly name: string;
  readonly sequence: boolean;
  readonly privileges: readonly string[];
}

/** What was granted to the role itself; what everybody may is not looked at, for it cannot be taken from one role. */
async function listHeld(client: pg.Client, schema: string, role: string): Promise<readonly Held[]> {
  const { rows } = await client.query<Held>(
    `SELECT n.nspname AS schema, c.relname AS name, c.relkind = 'S' AS sequence,
       array(SELECT a.privilege_type FROM aclexplode(c.relacl) a WHERE a.grantee = r.oid) AS privileges
     FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace JOIN pg_roles r ON r.rolname = $2
     WHERE n.nspname = $1 AND c.relkind IN ('r', 'p', 'S') ORDER BY c.oid`,
    [schema, role],
  );
  return rows;
}

function holdsExactly(relation: Held): boolean {
  const due = dueTo(relation);
  return due.length === relation.privileges.length && due.every((privilege) => relation.privileges.includes(privilege));
}

function dueTo({ schema, name, sequence }: Held): readonly Privilege[] {
  return sequence ? SEQUENCE : (RESTRICTED[`${schema}.${name}`] ?? READ_AND_WRITE);
}

function rewrite(client: pg.Client, relation: Held, role: string): string {
  const { schema, name, sequence } = relation;
  const target = `${sequence ? 'SEQUENCE' : 'TABLE'} ${client.escapeIdentifier(schema)}.${client.escapeIdentifier(name)}`;
  return `REVOKE ALL ON ${target} FROM ${role}; GRANT ${dueTo(relation).join(', ')} ON ${target} TO ${role}`;
}

/** One transaction, after whoever migrates or grants in this database now (R3). */
async function inTurn(client: pg.Client, change: () => Promise<void>): Promise<void> {
  await client.query('BEGIN');
  try {
    await takeMigrationLock(client, 'commit');
    await change();
    await client.query('COMMIT');
  } catch (error) {
    await client.query('ROLLBACK').catch(() => undefined);
    throw error;
  }
}
