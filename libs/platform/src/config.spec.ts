import path from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { ConfigError, findUnknownVariables, readConfig, VARIABLES } from '@echelon/platform/start';

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

  test('says of each wrong variable in a sentence what it must be, and repeats no value', () => {
    const read = () => readConfig({ ECHELON_PORT: 'ninety', DATABASE_URL: 'mysql://secret@host/db', ECHELON_LOG_LEVEL: 'loud' });
    expect(read).toThrow(
      new ConfigError(
        [
          'DATABASE_URL must be an address that starts with postgres:// or postgresql://.',
          'ECHELON_PORT must be a whole number from 0 to 65535.',
          'ECHELON_LOG_LEVEL must be one of: debug, info, warn, error, silent.',
        ].join('\n'),
      ),
    );
  });

  test('has a readable rule for every variable', () => {
    expect(VARIABLES.filter(({ rule }) => rule.length < 5)).toEqual([]);
  });

  test('finds variables that nothing reads, each with the known name that is most like it', () => {
    const env = {
      ECHELON_PRT: '1',
      ECHELON_LIMIT_QUEUE_ENTRYS: '1',
      ECHELON_PORT: '1',
      ECHELON_URL: 'http://a',
      ECHELON_TEST_POSTGRES: 'x',
      PATH: '',
    };
    expect(findUnknownVariables(env)).toEqual([
      { name: 'ECHELON_LIMIT_QUEUE_ENTRYS', nearest: 'ECHELON_LIMIT_QUEUE_ENTRIES' },
      { name: 'ECHELON_PRT', nearest: 'ECHELON_PORT' },
    ]);
  });

  test('says where agents find the MCP endpoint: as told, or where the server listens; not at a port that nobody knows', () => {
    const urlOf = (env: Record<string, string>) => readConfig(env).mcpUrl;
    expect(urlOf({})).toBe('http://127.0.0.1:4600/mcp');
    expect(urlOf({ ECHELON_HOST: '0.0.0.0', ECHELON_PORT: '80' })).toBe('http://127.0.0.1:80/mcp');
    expect(urlOf({ ECHELON_HOST: '::1' })).toBe('http://[::1]:4600/mcp');
    expect(urlOf({ ECHELON_PORT: '0' })).toBeNull();
    expect(urlOf({ ECHELON_PORT: '0', ECHELON_MCP_URL: 'http://server:4600/mcp' })).toBe('http://server:4600/mcp');
  });

  test('lets a limit be changed', () => {
    expect(readConfig({ ECHELON_LIMIT_QUEUE_ENTRIES: '0' }).limits.queue_entries).toBe(0);
  });

  test('gives running commands 25 s at a hand-over, or what an operator says [O21]', () => {
    expect([readConfig({}).handOverMs, readConfig({ ECHELON_HAND_OVER_SECONDS: '40' }).handOverMs]).toEqual([25_000, 40_000]);
  });

  test('describes each variable once', () => {
    const names = VARIABLES.map(({ name }) => name);
    expect(new Set(names).size).toBe(names.length);
    expect(VARIABLES.filter(({ meaning }) => meaning.length < 5)).toEqual([]);
  });
});
