/** Runs many loops at once in this process, and tells how fast they are, how long the event loop stands still, and what one that waits takes. */
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { now } from '../clock.js';
import { serve } from '../serve.js';
import { createJournaledLoop } from './journaled-runners.js';
import { createLoop, type LoopName, type RunLoop } from './loop-runners.js';
import { createReadLine } from './read-line.js';
import { collectedHeap } from './rest-cost.js';

export interface Crowd {
  readonly loop: LoopName;
  /** Every step is stored; there is a database. */
  readonly durable: boolean;
  /** Base URL of the scripted model. */
  readonly url: string;
  readonly loops: number;
}

export interface CrowdSpeed {
  readonly roundsPerSecond: number;
  readonly longestStallMs: number;
}

const STALL_RESOLUTION_MS = 5;
const NANOSECONDS = 1e6;

const tool = createReadLine(() => undefined, 'execute');
let opened: Promise<Opened> | null = null;
let waiting: Promise<unknown> = Promise.resolve();

interface Opened {
  prepare?(runs: number): Promise<void>;
  readonly run: RunLoop;
  close?(): Promise<unknown>;
}

serve(
  { run, prepare, startWaiting, heapKb: () => collectedHeap(), finish: () => waiting },
  async () => void (await (await opened)?.close?.()),
);

async function run({ rounds, ...crowd }: Crowd & { readonly rounds: number }): Promise<CrowdSpeed> {
  await prepare(crowd);
  const delay = monitorEventLoopDelay({ resolution: STALL_RESOLUTION_MS });
  delay.enable();
  const startedAt = now();
  await runAll(crowd, `lines-${rounds}`);
  const seconds = (now() - startedAt) / 1_000;
  delay.disable();
  return { roundsPerSecond: (crowd.loops * rounds) / seconds, longestStallMs: delay.max / NANOSECONDS };
}

async function prepare({ loops, ...crowd }: Crowd): Promise<void> {
  await (await open({ loops, ...crowd })).prepare?.(loops);
}

/** Starts loops, prepared before, whose model keeps them waiting. */
function startWaiting({ model, ...crowd }: Crowd & { readonly model: string }): void {
  waiting = runAll(crowd, model);
}

async function runAll({ loops, ...crowd }: Crowd, model: string): Promise<void> {
  const { run: runOne } = await open({ loops, ...crowd });
  await Promise.all(Array.from({ length: loops }, () => runOne(model, tool)));
}

function open({ loop, durable, url }: Crowd): Promise<Opened> {
  return (opened ??= openLoop(loop, durable, url));
}

async function openLoop(loop: LoopName, durable: boolean, url: string): Promise<Opened> {
  if (!durable) return { run: await createLoop(loop, url) };
  if (loop === 'AI SDK') throw new Error('the AI SDK stores nothing');
  return createJournaledLoop(loop, url);
}
