/** Connections that work as the login itself, not as the application's role: for migrations, grants and the deployment's lock. */
import pg from 'pg';
import { MigrationError } from './migration-error.js';

const CONNECT_TIMEOUT_MS = 10_000;

/** Connects to the database at `url`; throws `MigrationError` where nobody is let in. */
export async function connectAsLogin(url: string, applicationName: string): Promise<pg.Client> {
  const client = new pg.Client({
    connectionString: url,
    application_name: applicationName,
    options: '-c TimeZone=UTC',
    keepAlive: true,
    connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
  });
  try {
    await client.connect();
    return client;
  } catch (cause) {
    // A server that waits for a password would hold its end for a minute, and with it whoever drops a database.
    await client.end();
    // A refused connection to a name with two addresses is an error without a message, around one for each.
    const { message } = cause instanceof AggregateError ? (cause.errors[0] as Error) : (cause as Error);
    const advice = 'see that it runs, and that DATABASE_URL names it with a user and a password that it knows.';
    throw new MigrationError('database_unreachable', `The database lets nobody in (${message}): ${advice}`, { cause });
  }
}
