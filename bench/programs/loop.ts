/** Runs loops one after the other, and tells the processor time of their rounds or of the pieces of text that they read. */
import { processorTime } from '../clock.js';
import { serve } from '../serve.js';
import { createLoop, type LoopName, type RunLoop } from './loop-runners.js';
import { createReadLine } from './read-line.js';

export interface LoopWork {
  readonly loop: LoopName;
  /** Base URL of the scripted model; `null`: fed from memory. */
  readonly url: string | null;
  /** Model name as script-words.ts has it: what each loop does. */
  readonly model: string;
  /** Rounds with calls, or pieces of text, of each loop. */
  readonly count: number;
  /** Loops one after the other. */
  readonly loops: number;
}

export interface LoopCost {
  /** Milliseconds of processor time per round, or per piece of text. */
  readonly each: number;
  /** The same for rounds 40 to 140 and 900 to 1,000, and for 950 to 1,000, of the last loop; NaN where it has none. */
  readonly early: number;
  readonly late: number;
  readonly last: number;
}

serve({ measure });

async function measure({ loop, url, model, count, loops }: LoopWork): Promise<LoopCost> {
  const run = await loopOf(loop, url);
  /** Processor time when a line was read, by its number. */
  const readAt: number[] = [];
  const tool = createReadLine((number) => (readAt[number] = processorTime()));
  const from = processorTime();
  for (let done = 0; done < loops; done++) await run(model, tool);
  const spent = processorTime() - from;
  const between = (first: number, last: number) => ((readAt[last] ?? NaN) - (readAt[first] ?? NaN)) / (last - first);
  return { each: spent / (loops * count), early: between(40, 140), late: between(900, 1_000), last: between(950, 1_000) };
}

const loops = new Map<string, RunLoop>();

async function loopOf(name: LoopName, url: string | null): Promise<RunLoop> {
  const key = `${name} ${url}`;
  const known = loops.get(key) ?? (await createLoop(name, url));
  loops.set(key, known);
  return known;
}
