/** LangGraph as a loop: a graph of a model and a tool node, every streamed message read. The packages are installed only when a bench runs. */
import type { ToolDefinition } from '@echelon/agent-loop';
import { importPeer } from '../peers/import-peer.js';
import type { RunLoop } from './loop-runners.js';
import { OPENING, SYSTEM } from './read-line.js';

/** The parts of `@langchain/langgraph` 1, `@langchain/core` 1 and `@langchain/openai` 1 that are used. */
interface LangGraph {
  readonly StateGraph: new (state: unknown) => GraphBuilder;
  readonly MessagesAnnotation: unknown;
  readonly START: string;
}

interface Prebuilt {
  readonly ToolNode: new (tools: readonly unknown[]) => unknown;
  readonly toolsCondition: unknown;
}

interface GraphBuilder {
  addNode(name: string, node: unknown): GraphBuilder;
  addEdge(from: string, to: string): GraphBuilder;
  addConditionalEdges(from: string, decide: unknown): GraphBuilder;
  compile(options: { readonly checkpointer?: unknown }): Graph;
}

interface Graph {
  stream(input: State, options: object): Promise<AsyncIterable<unknown>>;
}

interface State {
  readonly messages: readonly unknown[];
}

interface OpenAi {
  readonly ChatOpenAI: new (options: object) => {
    bindTools(tools: readonly unknown[]): { invoke(messages: readonly unknown[]): Promise<unknown> };
  };
}

interface Core {
  tool(
    execute: (input: unknown) => Promise<string>,
    options: { readonly name: string; readonly description: string; readonly schema: unknown },
  ): unknown;
}

interface Messages {
  readonly SystemMessage: new (text: string) => unknown;
  readonly HumanMessage: new (text: string) => unknown;
}

/** Steps of a graph that nobody wants to limit. */
const UNLIMITED = 1_000_000;

/** With a saver, every step is stored before the next one begins, each run under an id of its own. */
export async function createLangGraphLoop(url: string, checkpointer?: unknown): Promise<RunLoop> {
  const { HumanMessage } = (await importPeer('@langchain/core/messages')) as Messages;
  const build = await createGraphBuilder(url, checkpointer);
  let runs = 0;
  return async (model, definition) => {
    const durable =
      checkpointer === undefined ? {} : { durability: 'sync', configurable: { thread_id: `${model}-${process.pid}-${runs++}` } };
    const graph = build(model, definition);
    const given = { messages: [new HumanMessage(OPENING)] };
    for await (const _part of await graph.stream(given, { streamMode: 'messages', recursionLimit: UNLIMITED, ...durable }));
  };
}

async function createGraphBuilder(url: string, checkpointer?: unknown): Promise<(model: string, definition: ToolDefinition) => Graph> {
  const { StateGraph, MessagesAnnotation, START } = (await importPeer('@langchain/langgraph')) as LangGraph;
  const { ToolNode, toolsCondition } = (await importPeer('@langchain/langgraph/prebuilt')) as Prebuilt;
  const { ChatOpenAI } = (await importPeer('@langchain/openai')) as OpenAi;
  const { tool } = (await importPeer('@langchain/core/tools')) as Core;
  const { SystemMessage } = (await importPeer('@langchain/core/messages')) as Messages;
  const system = new SystemMessage(SYSTEM);
  return (model, { name, description, input: schema, execute }) => {
    const { signal } = new AbortController();
    const read = async (input: unknown) => (await execute(input, { callId: '', signal, context: undefined })).text;
    const tools = [tool(read, { name, description, schema })];
    const client = new ChatOpenAI({ model, apiKey: 'none', maxRetries: 0, streaming: true, configuration: { baseURL: url } }).bindTools(
      tools,
    );
    return new StateGraph(MessagesAnnotation)
      .addNode('agent', async ({ messages }: State) => ({ messages: [await client.invoke([system, ...messages])] }))
      .addNode('tools', new ToolNode(tools))
      .addEdge(START, 'agent')
      .addConditionalEdges('agent', toolsCondition)
      .addEdge('tools', 'agent')
      .compile(checkpointer === undefined ? {} : { checkpointer });
  };
}
