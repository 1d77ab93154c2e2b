import { mkdtempSync, rmSync } from 'node:fs';
import { connect, createServer, type Server, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { expect, test } from '@jest/globals';
import { applicationRole } from '@echelon/persistence';
import { createTestDatabase, waitFor } from '@echelon/testkit';
import { readConfig } from './config.js';
import { createPlatform } from './platform.js';

/** Settings with which each connection began, by the name that it gave itself. */
type Beginnings = Map<string, Set<string>>;

/** Stands before a Postgres and notes what clients say of themselves in their first message: `key\0value\0` pairs after eight bytes. */
async function startRecorder(target: { readonly host: string; readonly port: number }, seen: Beginnings): Promise<Server> {
  const server = createServer((client) => {
    const upstream = connect(target.port, target.host);
    client.once('data', (first) => note(first, seen));
    join(client, upstream);
    join(upstream, client);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return server;
}

function join(from: Socket, to: Socket): void {
  from.pipe(to);
  from.on('error', () => to.destroy());
  from.on('close', () => to.destroy());
}

function note(first: Buffer | string, seen: Beginnings): void {
  const words = first.toString('utf8').slice(8).split('\0');
  const valueOf = (key: string): string => words[words.indexOf(key) + 1] ?? '';
  const name = valueOf('application_name');
  seen.set(name, (seen.get(name) ?? new Set()).add(words.includes('options') ? valueOf('options') : 'none'));
}

test('every connection of a server and worker speaks UTC, whatever the database’s own zone, and works as the role that owns nothing [K19]', async () => {
  const storage = await createTestDatabase();
  await storage.asOwner(`DO $$ BEGIN EXECUTE format('ALTER DATABASE %I SET TimeZone = ''Asia/Tokyo''', current_database()); END $$`);
  const { hostname, port } = new URL(storage.url);
  const seen: Beginnings = new Map();
  const recorder = await startRecorder({ host: hostname, port: Number(port) }, seen);
  const through = new URL(storage.url);
  through.host = `127.0.0.1:${(recorder.address() as { port: number }).port}`;
  const folder = mkdtempSync(path.join(tmpdir(), 'echelon-connections-'));
  const config = readConfig({ DATABASE_URL: through.href, ECHELON_DATA_DIR: folder, ECHELON_LOG_LEVEL: 'silent' });
  const platform = await createPlatform(config, { worker: true });

  await waitFor('the queue is fetched from', () => platform.worker?.fetchedRecently() === true);
  const SHOW = `SELECT current_setting('TimeZone') AS zone`;
  expect(await platform.database.query(SHOW)).toEqual([{ zone: 'UTC' }]);
  expect(await platform.database.prisma.$queryRawUnsafe(SHOW)).toEqual([{ zone: 'UTC' }]);
  await platform.close();

  const working = `-c role=${applicationRole(storage.url)} -c TimeZone=UTC`;
  expect(Object.fromEntries([...seen].map(([name, options]) => [name, [...options]]))).toEqual({
    'echelon-process': ['-c TimeZone=UTC'],
    'echelon-migrate': ['-c TimeZone=UTC'],
    'echelon-queue-migrate': ['-c TimeZone=UTC'],
    echelon: [working],
    'echelon-presence': [working],
    'echelon-events': [working],
    'echelon-queue': [`${working} -c search_path=bullmq,public`],
  });
  recorder.close();
  await storage.drop();
  rmSync(folder, { recursive: true, force: true });
});
