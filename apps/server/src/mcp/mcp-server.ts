/**
 * The MCP server of one request. Which tools it has, the token decides: nothing of the connection is kept.
 *
 * M1  The list and the calls read one contract: that of the session's open turn, or else as its rows say now (D1, D5).
 * M2  A question tool that is not offered answers with its typed refusal; any other name is unknown (D3).
 */
import { randomUUID } from 'node:crypto';
import { describeUnknownTool } from '@echelon/agent-loop';
import { type Contract, EXTERNAL_CONTRACT, isRefusal, LIMITS } from '@echelon/domain';
import type { Actor, Logger, Services } from '@echelon/orchestration';
import { isDatabaseUnavailable } from '@echelon/persistence';
import { type CatalogueTool, QUESTION_TOOLS, type ToolCatalogue } from '@echelon/tools';
import { type CallToolResult, ProtocolError, ProtocolErrorCode, Server, type ServerContext } from '@modelcontextprotocol/server';
import type { Metrics } from '../metrics.js';
import { type CallRequest, callTool, refusalResult, type ToolResult } from './tool-call.js';
import { toListedTool } from './tool-listing.js';

const SERVER = { name: 'echelon', title: 'Echelon', version: '0.1.0' };
const CALL_ID_KEYS = ['claudecode/toolUseId', 'callId'];

export interface McpSurface {
  readonly services: Services;
  readonly tools: ToolCatalogue;
  readonly metrics: Metrics;
  readonly logger: Logger;
  /** Aborts when this process closes. */
  readonly closing: AbortSignal;
}

/** Who calls, and what it may do now. */
export interface McpCaller {
  readonly actor: Actor;
  readonly contract: Contract;
}

/** The caller of one request; throws when its session is gone between authentication and here. */
export async function callerOf(services: Services, actor: Actor): Promise<McpCaller> {
  if (actor.kind === 'operator') return { actor, contract: EXTERNAL_CONTRACT };
  const contract = await services.contracts.get(actor.sessionId);
  if (isRefusal(contract)) throw new Error(`the session of a valid token has no contract: ${contract.code}`);
  return { actor, contract };
}

/** Builds the server for a caller. An operator's tools never change, so that only an agent can hear of a change. */
export function createMcpServer(surface: McpSurface, { actor, contract }: McpCaller): Server {
  const offered = surface.tools.toolsFor(withoutWorkspace(contract));
  const capabilities = { tools: { listChanged: actor.kind === 'agent' } };
  const server = new Server(SERVER, { capabilities, instructions: instructionsFor(actor) });
  server.setRequestHandler('tools/list', () => ({ tools: offered.map(toListedTool) }));
  server.setRequestHandler('tools/call', async ({ params }, context) => {
    const tool = offered.find(({ name }) => name === params.name);
    const call = { actor, arguments: params.arguments, callId: callIdOf(context.mcpReq._meta), signal: signalOf(surface, context) };
    const called = tool ? callTool({ ...call, tool }) : refuseCall(params.name, call, { offered, tools: surface.tools });
    const result = await called.catch((error: unknown) => failCall(surface.logger, params.name, error));
    surface.metrics.mcpCalls.inc({ tool: params.name, result: result.isError ? 'error' : 'ok' });
    return toCallResult(result, tool);
  });
  return server;
}

/** Workspace tools belong to the worker that has the task's folder; over MCP nobody has it. */
function withoutWorkspace(contract: Contract): Contract {
  return { ...contract, capabilities: contract.capabilities.filter((capability) => capability !== 'workspace') };
}

function signalOf({ closing }: McpSurface, { mcpReq }: ServerContext): AbortSignal {
  return AbortSignal.any([mcpReq.signal, closing]);
}

interface Known {
  readonly offered: readonly CatalogueTool[];
  readonly tools: ToolCatalogue;
}

/** What a tool answers that is not offered (M2). */
async function refuseCall(name: string, call: Omit<CallRequest, 'tool'>, { offered, tools }: Known): Promise<ToolResult> {
  if (!QUESTION_TOOLS.has(name)) {
    const names = offered.map((tool) => tool.name);
    throw new ProtocolError(ProtocolErrorCode.InvalidParams, describeUnknownTool(name, names));
  }
  const known = call.actor.kind === 'agent' ? tools.find(name) : null;
  const refusal = known && (await callTool({ ...call, tool: known }));
  return refusal?.isError && refusal.structured?.['error'] !== 'INVALID_INPUT' ? refusal : refusalResult('TOOL_NOT_OFFERED', name);
}

/** What nobody expected is logged; the model learns its id and nothing else. */
function failCall(logger: Logger, tool: string, error: unknown): ToolResult {
  if (error instanceof ProtocolError) throw error;
  if (isDatabaseUnavailable(error)) return refusalResult('SERVICE_UNAVAILABLE', tool);
  const errorId = randomUUID();
  logger.error({ errorId, error, tool }, 'tool.failed');
  return refusalResult('INTERNAL', `${tool} (error ${errorId})`);
}

function callIdOf(meta: Readonly<Record<string, unknown>> | undefined): string | null {
  const id = CALL_ID_KEYS.map((key) => meta?.[key]).find((value) => typeof value === 'string' && value !== '');
  return typeof id === 'string' ? id.slice(0, LIMITS.key_characters.default) : null;
}

/** Clients hold a structured result to the declared schema, an error's too: there the text says it all. */
function toCallResult({ text, isError, structured }: ToolResult, tool: CatalogueTool | undefined): CallToolResult {
  const shown = structured !== undefined && !(isError && tool?.output);
  return { content: [{ type: 'text', text }], isError, ...(shown ? { structuredContent: { ...structured } } : {}) };
}

function instructionsFor(actor: Actor): string {
  return actor.kind === 'agent'
    ? 'Tools of your Echelon task. They act for your task only; ids are exact: copy them.'
    : 'Create and follow Echelon tasks, and answer the questions that wait for an operator.';
}
