/** Runs a process of a deployment until it is told to stop; what keeps it from starting is one sentence and exit code 4. */
import { StartupError } from '@echelon/embedded-postgres';
import { MigrationError } from '@echelon/persistence';
import { ConfigError } from './config.js';
import { stopSignal, untilAborted } from './stop-signal.js';
import { WorkerTooOldError } from './worker-host.js';

/** `start` returns what closes the process again, in order. */
export async function runProcess(start: () => Promise<() => Promise<void>>): Promise<void> {
  const stopping = stopSignal();
  try {
    const close = await start();
    await untilAborted(stopping);
    await close();
  } catch (error) {
    process.stderr.write(`${isExpected(error) ? error.message : String(error instanceof Error ? error.stack : error)}\n`);
    process.exitCode = 4;
  }
}

function isExpected(error: unknown): error is Error {
  return [ConfigError, MigrationError, StartupError, WorkerTooOldError].some((kind) => error instanceof kind);
}
