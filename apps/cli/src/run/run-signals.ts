import type { Terminal } from '../terminal.js';

const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

/** Aborts at the first signal that asks this process to end, and when nobody reads its output any more; a second signal kills. */
export function openRunSignals({ out, err }: Terminal): { readonly signal: AbortSignal; readonly close: () => void } {
  const controller = new AbortController();
  const cancel = (): void => controller.abort();
  for (const name of SIGNALS) process.once(name, cancel);
  out.on('error', cancel);
  // What was told there only is of no use to the caller.
  err.on('error', () => undefined);
  return {
    signal: controller.signal,
    close: () => {
      for (const name of SIGNALS) process.off(name, cancel);
    },
  };
}
