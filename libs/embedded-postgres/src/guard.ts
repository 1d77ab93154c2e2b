import { type ChildProcess, spawn } from 'node:child_process';

/**
 * Starts a process that stops `server` when we die, even by `kill -9`: it reads a pipe that only we hold open.
 *
 * A session of its own keeps Ctrl-C away from it. It is dismissed when the server exits, before its number can be reused.
 */
export function guard(server: ChildProcess): void {
  if (process.platform === 'win32' || server.pid === undefined) return;
  const watcher = spawn('sh', ['-c', 'read _; kill -INT "$0"', String(server.pid)], {
    cwd: '/',
    detached: true,
    stdio: ['pipe', 'ignore', 'ignore'],
  });
  watcher.unref();
  server.once('exit', () => watcher.kill('SIGKILL'));
}
