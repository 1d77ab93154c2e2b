import path from 'node:path';
import { defineConfig } from 'prisma/config';

const local = (file: string) => path.join(import.meta.dirname, file);

process.env['PRISMA_SCHEMA_ENGINE_BINARY'] ??= local('scripts/schema-engine.mjs');

/** The stand-in creates shadow databases on the server of `url` and ignores the address that Prisma insists on. */
const url = process.env['DATABASE_URL'] ?? '';

export default defineConfig({
  schema: local('prisma/schema.prisma'),
  migrations: { path: local('prisma/migrations') },
  datasource: { url, shadowDatabaseUrl: url ? `${url}_shadow` : '' },
});
