/** Where the server of a data folder listens: written by the process that runs it, read by the commands beside it. */
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import path from 'node:path';
import type { Config } from '@echelon/platform/start';
import { z } from 'zod';
import { CommandError, EXIT } from './exit-code.js';

const Address = z.object({ url: z.url(), pid: z.int().positive() });

function addressFile({ dataDir }: Pick<Config, 'dataDir'>): string {
  return path.join(dataDir, 'server.json');
}

/** Writes the address down; the returned function removes it again. */
export function recordServerAddress(config: Pick<Config, 'dataDir'>, url: string): () => Promise<void> {
  const file = addressFile(config);
  mkdirSync(config.dataDir, { recursive: true });
  writeFileSync(file, JSON.stringify({ url, pid: process.pid } satisfies z.infer<typeof Address>));
  return async () => rmSync(file, { force: true });
}

/** The address of the server that runs on this data folder, else the configured one. */
export function serverAddress(config: Pick<Config, 'dataDir' | 'host' | 'port'>): string {
  return findServerAddress(config) ?? configuredAddress(config);
}

function configuredAddress({ host, port }: Pick<Config, 'host' | 'port'>): string {
  if (host === '0.0.0.0' || host === '::') return `http://127.0.0.1:${port}`;
  return `http://${host.includes(':') ? `[${host}]` : host}:${port}`;
}

/** What a process that is gone left behind counts for nothing. */
function findServerAddress(config: Pick<Config, 'dataDir'>): string | null {
  try {
    const { url, pid } = Address.parse(JSON.parse(readFileSync(addressFile(config), 'utf8')));
    process.kill(pid, 0);
    return url;
  } catch {
    return null;
  }
}

/** Throws a `CommandError` that names the port when another program listens at it; what else is wrong, listening will tell. */
export async function refuseTakenPort(at: Pick<Config, 'host' | 'port'>): Promise<void> {
  if (await isPortTaken(at)) throw new CommandError(portTaken(at.port), EXIT.cannotStart);
}

export function portTaken(port: number): string {
  return `Port ${port} is taken by another program: set ECHELON_PORT to a free one.`;
}

/** Whether another program listens at the port; 0 never is. */
export function isPortTaken({ host, port }: Pick<Config, 'host' | 'port'>): Promise<boolean> {
  return new Promise((resolve) => {
    const probe = createServer();
    probe.once('error', (error: NodeJS.ErrnoException) => resolve(error.code === 'EADDRINUSE'));
    probe.listen(port, host, () => probe.close(() => resolve(false)));
  });
}
