/**
 * `/mcp`: Streamable HTTP, stateless, the 2026-07-28 protocol and the 2025 versions from one factory (architecture.md §6).
 * It stands before Nest: the handler reads and bounds its own bodies and answers in JSON-RPC.
 */
import { toNodeHandler } from '@modelcontextprotocol/node';
import { createMcpHandler, type AuthInfo } from '@modelcontextprotocol/server';
import type { Actor } from '@echelon/orchestration';
import type { Request, RequestHandler } from 'express';
import type { Gate } from '../http/gate.js';
import type { ProblemFilter } from '../http/problem.filter.js';
import { createMcpServer, type McpSurface } from './mcp-server.js';

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
  const maxRequestBodySize = options.maxBodyBytes;
  const mcp = createMcpHandler(({ authInfo }) => createMcpServer(surface, actorOf(authInfo)), { onerror, maxRequestBodySize });
  const serve = toNodeHandler(mcp, { onerror, maxRequestBodySize });
  return {
    handler: (request, response) => {
      authenticate(options.gate, request)
        .then((auth) => serve(Object.assign(request, { auth }), response))
        .catch((error: unknown) => options.problems.answer(error, request, response));
    },
    close: () => {
      closing.abort();
      return mcp.close();
    },
  };
}

/** Only a bearer token counts here; it does not travel any further than this. */
async function authenticate(gate: Gate, request: Request): Promise<AuthInfo> {
  const { actor, tokenId } = await gate.admitBearer(request);
  return { token: '', clientId: tokenId, scopes: [], extra: { actor } };
}

function actorOf(auth: AuthInfo | undefined): Actor {
  if (!auth?.extra) throw new Error('every MCP request is authenticated');
  return auth.extra['actor'] as Actor;
}
