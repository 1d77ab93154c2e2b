/** Runs our loop or the bare one, and tells the processor time of its rounds. */
import { createToolRegistry, runLoop, type ToolDefinition, type ModelClient } from '@echelon/agent-loop';
import { createModelClient } from '@echelon/model-clients';
import { now, processorTime } from '../clock.js';
import { serve } from '../serve.js';
import { runBareHttpLoop } from './bare-http-loop.js';
import { runBareLoop } from './bare-loop.js';
import { createMemoryModel } from './memory-model.js';
import { createReadLine, OPENING, SYSTEM } from './read-line.js';

export interface LoopWork {
  readonly loop: 'ours' | 'bare';
  /** Rounds with a call of each loop. */
  readonly rounds: number;
  /** Loops one after the other. */
  readonly loops: number;
  /** Base URL of the scripted model; `null`: fed from memory. */
  readonly url: string | null;
}

export interface LoopCost {
  /** Milliseconds of processor time per round. */
  readonly perRound: number;
  /** The same for the last 50 rounds of the last loop. */
  readonly perLateRound: number;
  readonly wallMs: number;
}

const LATE = 50;

serve({ measure });

async function measure(work: LoopWork): Promise<LoopCost> {
  const { rounds, loops } = work;
  let lateFrom = 0;
  const tool = createReadLine((number) => {
    if (number === rounds - LATE) lateFrom = processorTime();
  });
  const startedAt = now();
  const from = processorTime();
  for (let loop = 0; loop < loops; loop++) await runOnce(work, tool);
  const to = processorTime();
  return { perRound: (to - from) / (loops * rounds), perLateRound: (to - lateFrom) / LATE, wallMs: now() - startedAt };
}

function runOnce({ loop, rounds, url }: LoopWork, tool: ToolDefinition): Promise<unknown> {
  const model = `lines-${rounds}`;
  if (loop === 'ours') return runOurLoop(url === null ? createMemoryModel(rounds) : providerOf(url), model, tool);
  return url === null ? runBareLoop(createMemoryModel(rounds), model, tool) : runBareHttpLoop(url, model, tool);
}

const providers = new Map<string, ModelClient>();

function providerOf(url: string): ModelClient {
  const known = providers.get(url) ?? createModelClient({ dialect: 'chat_completions', baseUrl: url });
  providers.set(url, known);
  return known;
}

async function runOurLoop(client: ModelClient, model: string, tool: ToolDefinition): Promise<void> {
  const { stop } = await runLoop({
    start: { history: [], opening: { parts: [{ type: 'text', text: OPENING }], sendType: 'user' } },
    models: [{ client, model }],
    system: SYSTEM,
    tools: createToolRegistry([tool]),
    context: undefined,
    turn: 't1',
    promptId: 'prompt',
    signal: new AbortController().signal,
  });
  if (stop.reason !== 'completed') throw new Error(`the loop ended with ${JSON.stringify(stop)}`);
}
