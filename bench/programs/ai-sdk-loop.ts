/** The AI SDK as a loop: `streamText` with its defaults, every part of its stream read. The package is installed only when a bench runs. */
import type { ToolDefinition } from '@echelon/agent-loop';
import { importPeer } from '../peers/import-peer.js';
import type { RunLoop } from './loop-runners.js';
import { OPENING, SYSTEM } from './read-line.js';

/** The part of `ai` 7 that is used. */
interface AiSdk {
  streamText(options: {
    readonly model: unknown;
    readonly system: string;
    readonly prompt: string;
    readonly tools: Readonly<Record<string, unknown>>;
    readonly stopWhen: unknown;
    readonly maxRetries: number;
  }): { readonly stream: AsyncIterable<{ readonly type: string; readonly error?: unknown }>; readonly finishReason: PromiseLike<string> };
  tool(tool: { readonly description: string; readonly inputSchema: unknown; execute(input: unknown): Promise<string> }): unknown;
  isLoopFinished(): unknown;
}

interface Provider {
  createOpenAICompatible(options: {
    readonly name: string;
    readonly baseURL: string;
    readonly includeUsage: boolean;
  }): (model: string) => unknown;
}

export async function createAiSdkLoop(url: string): Promise<RunLoop> {
  const { streamText, tool, isLoopFinished } = (await importPeer('ai')) as AiSdk;
  const { createOpenAICompatible } = (await importPeer('@ai-sdk/openai-compatible')) as Provider;
  const provider = createOpenAICompatible({ name: 'scripted', baseURL: url, includeUsage: true });
  return async (model, definition) => {
    const tools = { [definition.name]: tool(toTool(definition)) };
    const given = { model: provider(model), system: SYSTEM, prompt: OPENING, tools, stopWhen: isLoopFinished(), maxRetries: 0 };
    const { stream, finishReason } = streamText(given);
    for await (const part of stream) if (part.type === 'error') throw part.error;
    const reason = await finishReason;
    if (reason !== 'stop') throw new Error(`the AI SDK ended with ${reason}`);
  };
}

function toTool({ description, input: inputSchema, execute }: ToolDefinition): Parameters<AiSdk['tool']>[0] {
  const { signal } = new AbortController();
  return {
    description,
    inputSchema,
    execute: async (input) => (await execute(input, { callId: '', signal, context: undefined })).text,
  };
}
