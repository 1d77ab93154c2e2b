// The databases that the schema engine stand-in works on.
import { randomUUID } from 'node:crypto';
import { PrismaPg } from '@prisma/adapter-pg';
import { ColumnTypeEnum, DriverAdapterError } from '@prisma/driver-adapter-utils';
import pg from 'pg';

const CHAR = 18;
const TEXT = 25;

/** Creates the database that `url` names, on its server, unless it exists. */
export async function createDatabase(url) {
  const databaseName = decodeURIComponent(new URL(url).pathname.slice(1));
  await onServer(url, async (client) => {
    const { rowCount } = await client.query('SELECT 1 FROM pg_database WHERE datname = $1', [databaseName]);
    if (!rowCount) await client.query(`CREATE DATABASE ${client.escapeIdentifier(databaseName)}`);
  });
  return { databaseName };
}

export async function checkConnection(url) {
  const client = new pg.Client({ connectionString: url });
  try {
    await client.connect();
  } catch (error) {
    throw Object.assign(new Error(`Can't reach the database: ${error.message}`), { code: error.code === '3D000' ? 'P1003' : 'P1001' });
  }
  await client.end();
  return {};
}

async function onServer(url, work) {
  const client = new pg.Client({ connectionString: replaceDatabase(url, 'postgres') });
  await client.connect();
  try {
    return await work(client);
  } finally {
    await client.end();
  }
}

function replaceDatabase(url, name) {
  const replaced = new URL(url);
  replaced.pathname = `/${name}`;
  return replaced.href;
}

/** Prisma's own adapter cannot do three things that migrations need: see here, at `readCharColumns` and at `openShadow`. */
async function openAdapter(url) {
  const pool = new pg.Pool({ connectionString: url, max: 4 });
  const adapter = await new PrismaPg(pool, { disposeExternalPool: true }).connect();
  readCharColumns(adapter);
  // It splits scripts at every semicolon, those inside function bodies too.
  adapter.executeScript = (script) => pool.query(script).then(() => undefined, rethrow);
  return adapter;
}

/** It refuses the catalogues' one-byte "char" columns: they are read as text and announced as characters. */
function readCharColumns(adapter) {
  const queryRaw = adapter.queryRaw;
  const performIO = adapter.performIO.bind(adapter);
  adapter.queryRaw = async (query) => {
    const chars = [];
    const reader = Object.create(adapter, { performIO: { value: async (sql) => hideChars(await performIO(sql), chars) } });
    const result = await queryRaw.call(reader, query);
    for (const column of chars) result.columnTypes[column] = ColumnTypeEnum.Character;
    return result;
  };
}

function hideChars(result, chars) {
  for (const [column, field] of result.fields.entries()) {
    if (field.dataTypeID !== CHAR) continue;
    field.dataTypeID = TEXT;
    chars.push(column);
  }
  return result;
}

function rethrow({ code = 'XX000', severity = 'ERROR', message, detail, column, hint }) {
  const described = { code, severity, message, detail, column, hint, originalCode: code, originalMessage: message };
  throw new DriverAdapterError({ kind: 'postgres', ...described });
}

export function onlineFactory(url) {
  return {
    provider: 'postgres',
    adapterName: '@prisma/adapter-pg',
    connect: () => openAdapter(url),
    connectToShadowDb: () => openShadow(url),
  };
}

/** It drops its shadow database while still connected, and given an address it forgets the database's name. */
async function openShadow(url) {
  const name = `prisma_migrate_shadow_db_${randomUUID()}`;
  await onServer(url, (client) => client.query(`CREATE DATABASE "${name}"`));
  const adapter = await openAdapter(replaceDatabase(url, name));
  const dispose = adapter.dispose.bind(adapter);
  adapter.dispose = async () => {
    await dispose();
    await onServer(url, (client) => client.query(`DROP DATABASE IF EXISTS "${name}" WITH (FORCE)`));
  };
  return adapter;
}

const VERSION_ANSWER = {
  columnNames: ['exists', 'version', 'numeric_version'],
  columnTypes: [5, 7, 0],
  rows: [[true, 'PostgreSQL 18.0', 180_000]],
};

async function refuseQuery(query) {
  throw new Error(`a comparison of files must not query a database: ${JSON.stringify(query)}`);
}

const noDatabase = {
  provider: 'postgres',
  adapterName: 'offline',
  queryRaw: async (query) => (query.sql.includes('server_version_num') ? VERSION_ANSWER : refuseQuery(query)),
  executeRaw: refuseQuery,
  executeScript: refuseQuery,
  startTransaction: refuseQuery,
  getConnectionInfo: () => ({ schemaName: 'public', supportsRelationJoins: true }),
  dispose: async () => undefined,
};

/** For comparisons of files. */
export const offlineFactory = {
  provider: 'postgres',
  adapterName: 'offline',
  connect: async () => noDatabase,
  connectToShadowDb: async () => noDatabase,
};
