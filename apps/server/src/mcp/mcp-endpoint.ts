/**
 * `/mcp`: Streamable HTTP, stateless, the 2026-07-28 protocol and the 2025 versions from one factory (architecture.md §6).
 * It stands before Nest: the handler reads and bounds its own bodies and answers in JSON-RPC.
 */
import { toNodeHandler } from '@modelcontextprotocol/node';
import { createMcpHandler, type AuthInfo } from '@modelcontextprotocol/server';
import { LIMITS } from '@echelon/domain';
import type { Request, RequestHandler, Response } from 'express';
import type { Gate } from '../http/gate.js';
import type { ProblemFilter } from '../http/problem.filter.js';
import { recheckToken } from '../http/token-recheck.js';
import { callerOf, createMcpServer, type McpCaller, type McpSurface } from './mcp-server.js';
import { NotificationStreams } from './notification-streams.js';
import { ToolListChanges } from './tool-list-changes.js';

export interface McpEndpointOptions extends Omit<McpSurface, 'closing'> {
  readonly gate: Gate;
  readonly problems: ProblemFilter;
  readonly maxBodyBytes: number;
}

export interface McpEndpoint {
  readonly handler: RequestHandler;
  /** Aborts calls that wait, then ends what is open. */
  close(): Promise<void>;
}

export function createMcpEndpoint(options: McpEndpointOptions): McpEndpoint {
  const closing = new AbortController();
  const surface: McpSurface = { ...options, closing: closing.signal };
  const onerror = (error: Error) => options.logger.warn({ error }, 'mcp.rejected');
  const changes = new ToolListChanges({ ...options, contracts: options.services.contracts });
  const streams = new NotificationStreams(surface, changes);
  const bounds = { onerror, maxRequestBodySize: options.maxBodyBytes };
  const maxSubscriptions = LIMITS.mcp_subscriptions.default;
  const mcp = createMcpHandler(({ authInfo }) => createMcpServer(surface, readCaller(authInfo)), {
    ...bounds,
    bus: changes,
    maxSubscriptions,
  });
  const serve = toNodeHandler(mcp, bounds);

  async function handle(request: Request, response: Response): Promise<void> {
    const { actor, tokenId } = await options.gate.admitBearer(request);
    const caller = await callerOf(options.services, actor);
    const auth: AuthInfo = { token: '', clientId: tokenId, scopes: [], extra: { caller } };
    if (request.method === 'GET' && streams.offers(caller)) return streams.open(caller, request, response);
    await changes.serve(caller, () => serve(Object.assign(request, { auth }), response));
  }

  return {
    handler: (request, response) => {
      recheckToken(options.gate, { request, response, end: () => response.destroy() });
      handle(request, response).catch((error: unknown) => options.problems.answer(error, request, response));
    },
    close: () => {
      closing.abort();
      streams.close();
      return mcp.close();
    },
  };
}

/** Who calls was found out before; the bearer token does not travel any further than that. */
function readCaller(auth: AuthInfo | undefined): McpCaller {
  if (!auth?.extra) throw new Error('every MCP request is authenticated');
  return auth.extra['caller'] as McpCaller;
}
