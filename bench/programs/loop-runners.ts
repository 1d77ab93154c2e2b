/** The loops that are compared over HTTP or from memory, each made once per process. */
import { createToolRegistry, type ModelClient, runLoop, type ToolDefinition } from '@echelon/agent-loop';
import { createModelClient } from '@echelon/model-clients';
import { createAiSdkLoop } from './ai-sdk-loop.js';
import { runBareHttpLoop } from './bare-http-loop.js';
import { runBareLoop } from './bare-loop.js';
import { createLangGraphLoop } from './langgraph-loop.js';
import { createMemoryModel } from './memory-model.js';
import { OPENING, SYSTEM } from './read-line.js';

export type LoopName = 'ours' | 'bare' | 'AI SDK' | 'LangGraph';

/** Runs one loop to its end, with one tool, on a model that the script knows by name. */
export type RunLoop = (model: string, tool: ToolDefinition) => Promise<unknown>;

/** The loop on the scripted model at `url`; `null`: fed from memory, which the peers are not. */
export async function createLoop(name: LoopName, url: string | null): Promise<RunLoop> {
  if (url === null) return createMemoryLoop(name);
  switch (name) {
    case 'ours':
      return createOurLoop(url);
    case 'bare':
      return (model, tool) => runBareHttpLoop(url, model, tool);
    case 'AI SDK':
      return createAiSdkLoop(url);
    case 'LangGraph':
      return createLangGraphLoop(url);
  }
}

function createMemoryLoop(name: LoopName): RunLoop {
  const run = name === 'ours' ? runOurLoop : runBareLoop;
  return (model, tool) => run(createMemoryModel(Number(model.replace('lines-', ''))), model, tool);
}

function createOurLoop(url: string): RunLoop {
  const client = createModelClient({ dialect: 'chat_completions', baseUrl: url });
  return (model, tool) => runOurLoop(client, model, tool);
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
