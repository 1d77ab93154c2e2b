// Preloaded into a program that must not outlive the one that started it, even when that one is killed.
import { isMainThread } from 'node:worker_threads';

const INTERVAL_MS = 500;

if (isMainThread) watchParent(process.ppid);

function watchParent(parent) {
  const watch = setInterval(() => {
    if (process.ppid === parent) return;
    clearInterval(watch);
    process.kill(process.pid, 'SIGTERM');
  }, INTERVAL_MS);
  watch.unref();
}
