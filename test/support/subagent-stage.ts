/** An agent that may start subagents, on the scripted model over HTTP, with tools that only take notes. */
import {
  type BatchHooks,
  createToolRegistry,
  type LoopEvent,
  type LoopLimits,
  type LoopResult,
  type ModelMessage,
  type Permissions,
  runLoop,
  Spending,
  type ToolDefinition,
} from '@echelon/agent-loop';
import { createModelClient } from '@echelon/model-clients';
import { type AgentScript, type RecordedRequest, scriptByAgent, type ScriptedToolCall, startScriptedModel } from '@echelon/scripted-model';
import { z } from 'zod';
import { createSubagentHost, createSubagentTool, SUBAGENT_ROLE, SUBAGENT_TOOL, type SubagentHost } from '@echelon/agent-session';

export interface StageContext {
  readonly subagents: SubagentHost<StageContext> | null;
}

export type StageTool = ToolDefinition<z.ZodType, StageContext>;

export interface StageOptions {
  readonly depth?: number;
  readonly tools?: readonly StageTool[];
  readonly permissions?: Permissions<StageContext>;
  readonly personPresent?: boolean;
  readonly hooks?: BatchHooks<StageContext>;
  /** Of the agent and, as far as they are its own, of each subagent. */
  readonly limits?: LoopLimits;
  readonly close?: () => Promise<void>;
  readonly signal?: AbortSignal;
  readonly onEvent?: (event: LoopEvent) => void;
}

export interface Staged extends LoopResult {
  readonly history: readonly ModelMessage[];
  readonly requests: readonly RecordedRequest[];
  /** Live output of the agent's calls. */
  readonly output: string;
  /** What became of the agent's calls, in the order of its history. */
  readonly results: readonly { readonly text: string; readonly isError: boolean }[];
}

export function stageTool(name: string, traits: Partial<StageTool> = {}): StageTool {
  const execute = (): Promise<{ text: string; isError: boolean }> => Promise.resolve({ text: `${name} was done`, isError: false });
  const about = { name, title: name, description: name, input: z.strictObject({}) };
  return { ...about, effect: 'read', concurrencySafe: true, idempotent: false, execute, ...traits };
}

/** A call of `run_subagent` for the agent that the prompt marks. */
export function delegateTo(agent: string, description = agent): ScriptedToolCall {
  return { name: SUBAGENT_TOOL, arguments: { description, prompt: `[${agent}] Do your part.` } };
}

/** Plays the agent marked `[root]` to its stop; the others are its subagents, by the marks of their prompts. */
export async function playSubagents(agents: Readonly<Record<string, AgentScript>>, options: StageOptions = {}): Promise<Staged> {
  const marked = Object.fromEntries(Object.entries(agents).map(([name, script]) => [`[${name}]`, script]));
  const model = await startScriptedModel({ script: scriptByAgent(marked) });
  const models = [{ client: createModelClient({ dialect: 'chat_completions', baseUrl: model.url }), model: 'scripted' }];
  const subagent = createSubagentTool<StageContext>(({ subagents }) => subagents);
  const toolsOf = (subagents: StageContext['subagents']) =>
    createToolRegistry([...(options.tools ?? [stageTool('look')]), ...(subagents === null ? [] : [subagent])]);
  const { limits = {}, permissions, hooks, close } = options;
  const common = { models, turn: 't1', promptId: 'p1', limits, spending: new Spending() };
  const host = createSubagentHost<StageContext, null>(
    null,
    (_call, { nest }) => {
      const subagents = nest(null);
      return Promise.resolve({
        ...common,
        system: SUBAGENT_ROLE,
        tools: toolsOf(subagents),
        context: { subagents },
        personPresent: options.personPresent ?? false,
        ...(permissions && { permissions }),
        ...(hooks && { hooks }),
        ...(close && { close }),
      });
    },
    options.depth,
  );
  const history: ModelMessage[] = [];
  const output: string[] = [];
  try {
    const ended = await runLoop<StageContext>({
      ...common,
      start: { history, opening: { parts: [{ type: 'text', text: '[root] Begin.' }], sendType: 'user' } },
      system: 'You are a test.',
      tools: toolsOf(host),
      context: { subagents: host },
      signal: options.signal ?? new AbortController().signal,
      onEvent: (event) => {
        if (event.type === 'tool_output') output.push(event.chunk);
        options.onEvent?.(event);
      },
    });
    return { ...ended, history, requests: model.requests, output: output.join(''), results: resultsIn(history) };
  } finally {
    await model.close();
  }
}

function resultsIn(history: readonly ModelMessage[]): Staged['results'] {
  return history.flatMap((message) =>
    message.role === 'tool' ? message.parts.map(({ text, is_error }) => ({ text, isError: is_error })) : [],
  );
}
