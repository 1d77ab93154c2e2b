import { describe, expect, test } from '@jest/globals';
import { StartupError, toStartupError } from './startup-error.js';

const SAID = [
  ['ENOSPC: no space left on device, write', 'disk_full'],
  ['initdb: error: could not write file "postgresql.conf": No space left on device', 'disk_full'],
  ['FATAL:  could not write to file "pg_wal/xlogtemp.7": Disk quota exceeded', 'disk_full'],
  ["EACCES: permission denied, mkdir '/data'", 'no_permission'],
  ["EROFS: read-only file system, open '/data/echelon.lock'", 'no_permission'],
  ['FATAL:  data directory "/data/postgres" has wrong ownership', 'no_permission'],
  ['LOG:  could not bind IPv4 address "127.0.0.1": Address already in use', 'port_in_use'],
  ['FATAL:  could not map anonymous shared memory', 'postgres_failed'],
] as const;

describe('what the system said', () => {
  test.each(SAID)('%s is %s, in one sentence that names the folder or the port', (said, code) => {
    const error = toStartupError(new Error(said), '/data');
    expect(error).toBeInstanceOf(StartupError);
    expect(error.code).toBe(code);
    expect(error.message).toMatch(/^[A-Z][^\n]*(\/data|port)[^\n]*$/);
  });

  test('stays one sentence when Postgres wrote a page', () => {
    const log = 'LOG:  starting PostgreSQL\nFATAL:  invalid value for parameter "work_mem"\nLOG:  database system is shut down\n';
    const { message } = toStartupError(new Error(log), '/data');
    expect(message).toBe('Postgres did not start in /data: FATAL:  invalid value for parameter "work_mem"');
  });

  test('passes a start error unchanged', () => {
    const error = new StartupError('password_missing', 'gone');
    expect(toStartupError(error, '/data')).toBe(error);
  });
});
