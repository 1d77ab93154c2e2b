/** The Redis of one run, where `redis-server` is installed: private, and durable as a deployment has it. */
import { spawn, spawnSync } from 'node:child_process';
import { mkdirSync } from 'node:fs';
import path from 'node:path';
import { findFreePort } from '@echelon/embedded-postgres';
import type { BenchContext } from './context.js';

export interface BenchRedis {
  readonly url: string;
  close(): Promise<void>;
}

/** Starts it with its data below the run's folder; `null` where it is not installed. */
export async function openRedis({ folder, progress }: BenchContext): Promise<BenchRedis | null> {
  if (spawnSync('redis-server', ['--version']).status !== 0) {
    progress('redis-server is not installed: without the queue on Redis');
    return null;
  }
  const dir = path.join(folder, 'redis');
  mkdirSync(dir);
  const port = String(await findFreePort());
  const server = spawn('redis-server', ['--port', port, '--bind', '127.0.0.1', '--dir', dir, '--appendonly', 'yes', '--save', ''], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const exited = new Promise<void>((resolve) => server.once('exit', () => resolve()));
  await untilSaid(server.stdout, 'Ready to accept connections');
  const close = () => {
    server.kill();
    return exited;
  };
  return { url: `redis://127.0.0.1:${port}`, close };
}

function untilSaid(output: NodeJS.ReadableStream, words: string): Promise<void> {
  return new Promise((resolve, reject) => {
    let said = '';
    output.setEncoding('utf8').on('data', (text: string) => {
      said += text;
      if (said.includes(words)) resolve();
    });
    output.once('end', () => reject(new Error(`redis-server ended:\n${said}`)));
  });
}
