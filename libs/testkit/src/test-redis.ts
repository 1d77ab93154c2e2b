import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { findFreePort } from '@echelon/embedded-postgres';

export interface TestRedis {
  readonly url: string;
  stop(): Promise<void>;
}

const ARGUMENTS = ['--bind', '127.0.0.1', '--save', '', '--appendonly', 'no', '--dir', '/tmp'];

/** Starts a Redis of one spec's own on a free port, with nothing kept on disk; redis-server must be installed. */
export async function startTestRedis(): Promise<TestRedis> {
  const port = await findFreePort();
  const server = spawn('redis-server', ['--port', String(port), ...ARGUMENTS], { stdio: ['ignore', 'pipe', 'inherit'] });
  const exited = new Promise<void>((resolve) => server.once('exit', () => resolve()));
  await untilReady(server);
  const stop = () => {
    server.kill('SIGKILL');
    return exited;
  };
  return { url: `redis://127.0.0.1:${port}`, stop };
}

export function isRedisInstalled(): boolean {
  return spawnSync('redis-server', ['--version']).status === 0;
}

function untilReady(server: ChildProcess): Promise<void> {
  return new Promise((resolve, reject) => {
    let said = '';
    server.stdout?.setEncoding('utf8').on('data', (text: string) => {
      said += text;
      if (said.includes('Ready to accept connections')) resolve();
    });
    server.once('error', reject);
    server.once('exit', () => reject(new Error(`redis-server did not start:\n${said}`)));
  });
}
