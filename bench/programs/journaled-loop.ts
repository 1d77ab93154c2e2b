/** Runs durable loops one after the other, and tells what their rounds cost the processor and the database. */
import { processorTime } from '../clock.js';
import { serve } from '../serve.js';
import { createJournaledLoop, type JournaledLoop, type JournaledName } from './journaled-runners.js';
import { createReadLine } from './read-line.js';
import { type Written, WriteWatch } from './write-watch.js';

export interface JournaledWork {
  readonly loop: JournaledName;
  /** Base URL of the scripted model. */
  readonly url: string;
  readonly rounds: number;
  /** Of the tool; with `execute`, every call is an intent first. */
  readonly effect: 'read' | 'execute';
}

/** Per round. */
export interface JournaledCost {
  readonly cpuMs: number;
  readonly transactions: number;
  readonly walKb: number;
  /** The same of rounds 20 to 70, and of 250 to 300; NaN where there are none. */
  readonly earlyWalKb: number;
  readonly lateWalKb: number;
}

const MARKS: ReadonlySet<number> = new Set([20, 70, 250, 300]);

const watch = await WriteWatch.open(process.env.DATABASE_URL ?? '');
let opened: Promise<JournaledLoop> | null = null;

serve({ measure }, async () => {
  await (await opened)?.close();
  await watch.close();
});

async function measure({ loop, url, rounds, effect }: JournaledWork): Promise<JournaledCost> {
  const { prepare, run } = await (opened ??= createJournaledLoop(loop, url));
  await prepare?.(1);
  await watch.waitUntilQuiet();
  const marks = new Map<number, Written>();
  const note = async (number: number): Promise<unknown> => MARKS.has(number) && marks.set(number, await watch.read());
  const before = await watch.read();
  const from = processorTime();
  await run(`lines-${rounds}`, createReadLine(rounds > 100 ? note : () => undefined, effect));
  const cpuMs = (processorTime() - from) / rounds;
  const after = await watch.read();
  const walBetween = (first: number, last: number) => ((marks.get(last)?.walKb ?? NaN) - (marks.get(first)?.walKb ?? NaN)) / (last - first);
  return {
    cpuMs,
    transactions: (after.transactions - before.transactions) / rounds,
    walKb: (after.walKb - before.walKb) / rounds,
    earlyWalKb: walBetween(20, 70),
    lateWalKb: walBetween(250, 300),
  };
}
