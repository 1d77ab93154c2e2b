// Do the migrations arrive at the schema? Compares both on a Postgres of its own; exits 0 only when they agree.
import './source-loader.mjs';
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';

const { startEmbeddedPostgres } = await import('@echelon/embedded-postgres');

const root = path.dirname(import.meta.dirname);
const dataDir = mkdtempSync(path.join(tmpdir(), 'echelon-drift-'));
try {
  const postgres = await startEmbeddedPostgres({ dataDir, durable: false });
  process.exitCode = compare(postgres.url());
  await postgres.stop();
} finally {
  rmSync(dataDir, { recursive: true, force: true });
}

function compare(url) {
  const prisma = path.join(root, 'node_modules/prisma/build/index.js');
  const question = ['migrate', 'diff', '--from-migrations', 'prisma/migrations', '--to-schema', 'prisma/schema.prisma', '--exit-code'];
  const env = { ...process.env, DATABASE_URL: url, CHECKPOINT_DISABLE: '1' };
  return spawnSync(process.execPath, [prisma, ...question], { cwd: root, env, stdio: 'inherit' }).status ?? 1;
}
