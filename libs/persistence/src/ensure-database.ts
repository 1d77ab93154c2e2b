import pg from 'pg';

const DUPLICATE = '42P04';

/** Creates the database where it is missing; `url` names another one of the same server, whose role may create. */
export async function ensureDatabase(url: string, name: string): Promise<void> {
  const client = new pg.Client({ connectionString: url, application_name: 'echelon-create' });
  await client.connect();
  try {
    const { rowCount } = await client.query('SELECT 1 FROM pg_database WHERE datname = $1', [name]);
    if (rowCount === 0) await client.query(`CREATE DATABASE ${client.escapeIdentifier(name)}`);
  } catch (error) {
    if (!(error instanceof pg.DatabaseError) || error.code !== DUPLICATE) throw error;
  } finally {
    await client.end();
  }
}
