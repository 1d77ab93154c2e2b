/** MCP clients that specs drive `/mcp` with: both lines of the SDK, both eras of the protocol. */
import { Client as ModernClient, StreamableHTTPClientTransport as ModernTransport } from '@modelcontextprotocol/client';
import { Client as OldClient } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport as OldTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { ToolListChangedNotificationSchema } from '@modelcontextprotocol/sdk/types.js';

export interface CallResult {
  readonly isError: boolean;
  readonly text: string;
  readonly structured: Readonly<Record<string, unknown>> | undefined;
}

export interface ListedTool {
  readonly name: string;
  readonly title?: string | undefined;
  readonly inputSchema: object;
  readonly _meta?: object | undefined;
  readonly annotations?: object | undefined;
}

/** A client of either generation. */
export interface McpClient {
  readonly version: string | undefined;
  list(): Promise<readonly ListedTool[]>;
  call(name: string, args?: object, meta?: object): Promise<CallResult>;
  /** Hears when the tools have changed: by a subscription, or on the stream that a client of 2025 has opened by itself. */
  onToolsChanged(listener: () => void): Promise<void>;
  close(): Promise<void>;
}

function toResult(raw: object): CallResult {
  const { isError = false, content, structuredContent } = raw as RawResult;
  return { isError, text: content[0]?.text ?? '', structured: structuredContent };
}

interface RawResult {
  readonly isError?: boolean;
  readonly content: readonly { readonly text: string }[];
  readonly structuredContent?: CallResult['structured'];
}

const init = (token: string) => ({ requestInit: { headers: { authorization: `Bearer ${token}` } } });

/** A client of the 1.x line. */
export async function connectOld(url: string, token: string): Promise<McpClient> {
  const client = new OldClient({ name: 'spec', version: '1' });
  const transport = new OldTransport(new URL('/mcp', url), init(token));
  await client.connect(transport);
  return {
    version: transport.protocolVersion,
    list: async () => (await client.listTools()).tools,
    call: async (name, args = {}, meta) =>
      toResult(await client.callTool({ name, arguments: { ...args }, ...(meta ? { _meta: { ...meta } } : {}) })),
    onToolsChanged: async (listener) => client.setNotificationHandler(ToolListChangedNotificationSchema, listener),
    close: () => client.close(),
  };
}

/** A client of the 2.x line: `auto` negotiates, `legacy` shakes hands. */
export async function connectModern(url: string, token: string, mode: 'auto' | 'legacy'): Promise<McpClient> {
  const client = new ModernClient({ name: 'spec', version: '1' }, mode === 'auto' ? { versionNegotiation: { mode } } : {});
  await client.connect(new ModernTransport(new URL('/mcp', url), init(token)));
  return {
    version: client.getNegotiatedProtocolVersion(),
    list: async () => (await client.listTools()).tools,
    call: async (name, args = {}, meta) =>
      toResult(await client.callTool({ name, arguments: { ...args }, ...(meta ? { _meta: { ...meta } } : {}) })),
    onToolsChanged: async (listener) => {
      client.setNotificationHandler('notifications/tools/list_changed', listener);
      if (mode === 'auto') await client.listen({ toolsListChanged: true });
    },
    close: () => client.close(),
  };
}

/** Every kind of client, with the protocol version that it ends up with. */
export const CLIENTS: readonly [string, string, (url: string, token: string) => Promise<McpClient>][] = [
  ['a client of the 1.x line', '2025-11-25', connectOld],
  ['a client of the 2.x line that shakes hands', '2025-11-25', (url, token) => connectModern(url, token, 'legacy')],
  ['a client of the 2.x line that negotiates', '2026-07-28', (url, token) => connectModern(url, token, 'auto')],
];
