import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, describe, expect, test } from '@jest/globals';
import { listenAnywhere } from '../../../test/support/free-port.js';
import { EXIT } from './exit-code.js';
import { recordServerAddress, refuseTakenPort, serverAddress } from './server-address.js';

const dataDir = mkdtempSync(path.join(tmpdir(), 'echelon-address-'));
afterAll(() => rmSync(dataDir, { recursive: true }));
const config = { dataDir, host: '0.0.0.0', port: 4600 };

describe('the address of this machine’s server', () => {
  test('is the configured one while none runs on the data folder', () => {
    expect(serverAddress(config)).toBe('http://127.0.0.1:4600');
    expect(serverAddress({ ...config, host: '::1' })).toBe('http://[::1]:4600');
  });

  test('is that of the server that runs there, whatever port it took, until it closes', async () => {
    const forget = recordServerAddress(config, 'http://127.0.0.1:5511');
    expect(serverAddress(config)).toBe('http://127.0.0.1:5511');
    await forget();
    expect(serverAddress(config)).toBe('http://127.0.0.1:4600');
  });

  test('is not what a process that is gone left behind', () => {
    const gone = 2 ** 22 + 1;
    writeFileSync(path.join(dataDir, 'server.json'), JSON.stringify({ url: 'http://127.0.0.1:5511', pid: gone }));
    expect(serverAddress(config)).toBe('http://127.0.0.1:4600');
  });
});

test('a port that another program has is refused by its number', async () => {
  const other = createServer();
  const port = await listenAnywhere(other);
  await expect(refuseTakenPort({ host: '127.0.0.1', port })).rejects.toMatchObject({
    message: `Port ${port} is taken by another program: set ECHELON_PORT to a free one.`,
    exitCode: EXIT.cannotStart,
  });
  await new Promise((resolve) => other.close(resolve));
  await expect(refuseTakenPort({ host: '127.0.0.1', port })).resolves.toBeUndefined();
});
