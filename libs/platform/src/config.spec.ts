import path from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { ConfigError, readConfig, VARIABLES } from '@echelon/platform';

describe('the configuration', () => {
  test('has a default for everything', () => {
    expect(readConfig({})).toMatchObject({
      databaseUrl: null,
      redisUrl: null,
      dataDir: path.resolve('.echelon'),
      workspaceRoot: path.resolve('.echelon/workspaces'),
      host: '127.0.0.1',
      port: 4600,
      slots: 64,
      limits: { queue_entries: 10, depth: 16 },
    });
  });

  test('takes an empty variable as absent', () => {
    expect(readConfig({ DATABASE_URL: '', ECHELON_PORT: '' })).toMatchObject({ databaseUrl: null, port: 4600 });
  });

  test('names every variable that is wrong, and no value', () => {
    const read = () => readConfig({ ECHELON_PORT: 'ninety', DATABASE_URL: 'mysql://secret@host/db' });
    expect(read).toThrow(ConfigError);
    expect(read).toThrow(/ECHELON_PORT.*|DATABASE_URL.*/s);
    try {
      read();
    } catch (error) {
      expect(String(error)).toMatch(/DATABASE_URL/);
      expect(String(error)).toMatch(/ECHELON_PORT/);
      expect(String(error)).not.toMatch(/secret|ninety/);
    }
  });

  test('lets a limit be changed', () => {
    expect(readConfig({ ECHELON_LIMIT_QUEUE_ENTRIES: '0' }).limits.queue_entries).toBe(0);
  });

  test('describes each variable once', () => {
    const names = VARIABLES.map(({ name }) => name);
    expect(new Set(names).size).toBe(names.length);
    expect(VARIABLES.filter(({ meaning }) => meaning.length < 5)).toEqual([]);
  });
});
