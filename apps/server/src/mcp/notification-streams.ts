/**
 * The GET stream of the 2025 versions: what the server says by itself, which is that the tools have changed. The SDK's stateless
 * serving has none; a stream here is one request as well, with a server of its own and no session id.
 */
import { NodeStreamableHTTPServerTransport } from '@modelcontextprotocol/node';
import { LIMITS } from '@echelon/domain';
import type { Request, Response } from 'express';
import { createMcpServer, type McpCaller, type McpSurface } from './mcp-server.js';
import type { ToolListChanges } from './tool-list-changes.js';

export class NotificationStreams {
  /** How to end each open stream. */
  readonly #open = new Set<() => void>();

  constructor(
    private readonly surface: McpSurface,
    private readonly changes: ToolListChanges,
  ) {}

  /** Whether one can be opened now; a client that gets none goes on without. */
  offers({ actor }: McpCaller): boolean {
    return actor.kind === 'agent' && this.#open.size < LIMITS.mcp_subscriptions.default && !this.surface.closing.aborted;
  }

  /** Answers with a stream that lasts until either side ends it. */
  async open(caller: McpCaller, request: Request, response: Response): Promise<void> {
    const onerror = (error: unknown) => this.surface.logger.warn({ error }, 'mcp.rejected');
    const server = createMcpServer(this.surface, caller);
    const transport = new NodeStreamableHTTPServerTransport();
    await server.connect(transport);
    const leave = this.changes.follow(caller, () => void server.sendToolListChanged().catch(onerror));
    const end = () => void server.close().catch(onerror);
    this.#open.add(end);
    response.once('close', () => {
      this.#open.delete(end);
      leave();
      end();
    });
    await transport.handleRequest(request, response);
  }

  close(): void {
    for (const end of this.#open) end();
  }
}
