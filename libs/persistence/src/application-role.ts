/**
 * The role that the application works as: it owns nothing, so that no code of ours can drop a table, disable a trigger, or rewrite
 * the audit (operations.md, Trust).
 */
import pg from 'pg';

/** One role for every database of a server; it cannot log in, those who may take it are its members. */
export const APPLICATION_ROLE = 'echelon_app';

/** Settings of a connection that works as the application. */
export const APPLICATION_OPTIONS = `-c role=${APPLICATION_ROLE} -c TimeZone=UTC`;

/** A role or a membership that another database's start made at the same moment. */
const MADE_MEANWHILE = new Set(['42710', '23505', 'XX000']);

const GRANTS = `
  GRANT USAGE ON SCHEMA public TO ${APPLICATION_ROLE};
  GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA public TO ${APPLICATION_ROLE};
  GRANT USAGE, SELECT, UPDATE ON ALL SEQUENCES IN SCHEMA public TO ${APPLICATION_ROLE};
  REVOKE INSERT, UPDATE, DELETE ON "_prisma_migrations" FROM ${APPLICATION_ROLE};`;

interface Standing {
  readonly made: boolean;
  readonly member: boolean;
  /** It may read every table and sequence that there is. */
  readonly granted: boolean;
}

/**
 * Makes the role where it is missing, makes `login` its member, and grants it what the schema has grown.
 * Rejects with Postgres' error where the connected login may not.
 */
export async function grantApplicationRole(client: pg.Client, login: string): Promise<void> {
  const { made, member, granted } = await readStanding(client, login);
  if (!made) await orMadeMeanwhile(client.query(`CREATE ROLE ${APPLICATION_ROLE} NOLOGIN`));
  if (!member) await orMadeMeanwhile(client.query(`GRANT ${APPLICATION_ROLE} TO ${client.escapeIdentifier(login)}`));
  if (!granted) await client.query(GRANTS);
}

async function readStanding(client: pg.Client, login: string): Promise<Standing> {
  const { rows } = await client.query<Standing>(
    `SELECT r.oid IS NOT NULL AS made, coalesce(pg_has_role(l.oid, r.oid, 'MEMBER'), false) AS member,
       r.oid IS NOT NULL AND NOT EXISTS (SELECT FROM pg_class c WHERE c.relnamespace = 'public'::regnamespace AND c.relkind IN ('r', 'S')
         AND NOT CASE c.relkind WHEN 'S' THEN has_sequence_privilege(r.oid, c.oid, 'USAGE') ELSE has_table_privilege(r.oid, c.oid, 'SELECT') END) AS granted
     FROM (SELECT 1) AS one LEFT JOIN pg_roles r ON r.rolname = $2 LEFT JOIN pg_roles l ON l.rolname = $1`,
    [login, APPLICATION_ROLE],
  );
  return rows[0] ?? { made: false, member: false, granted: false };
}

async function orMadeMeanwhile(making: Promise<unknown>): Promise<void> {
  try {
    await making;
  } catch (error) {
    if (!(error instanceof pg.DatabaseError && MADE_MEANWHILE.has(error.code ?? ''))) throw error;
  }
}
