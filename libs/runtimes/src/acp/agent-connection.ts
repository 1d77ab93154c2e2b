/**
 * The process of an agent and our side of its protocol: ACP version 1 over its standard streams. The SDK's unstable entry is the one
 * that reads what a prompt has used; nothing else of it is relied on.
 */
import { Readable, Writable } from 'node:stream';
import {
  client,
  type ClientConnection,
  type ContentBlock,
  type InitializeResponse,
  type McpServer,
  methods,
  ndJsonStream,
  type PromptResponse,
  PROTOCOL_VERSION,
  RequestError,
  type RequestPermissionRequest,
  type RequestPermissionResponse,
  type SessionUpdate,
} from '@agentclientprotocol/sdk/unstable';
import type { Usage } from '@echelon/agent-loop';
import { canonicalText } from '@echelon/domain';
import { type GuardedProcess, startGuardedProcess } from '@echelon/workspace-tools';
import type { PromptEnd } from './turn-stop.js';

const CLIENT = { name: 'echelon', title: 'Echelon', version: '0.1.0' };
/** Of what the agent writes to its standard error, the end is kept to say why it died. */
const KEPT_ERROR_CHARACTERS = 1_000;

/** The agent cannot do its work; `message` is for people. */
export class AgentUnusableError extends Error {
  override readonly name = 'AgentUnusableError';
}

export interface AgentOptions {
  readonly command: readonly string[];
  readonly cwd: string;
  /** Names of variables of this process that the agent may see. */
  readonly variables: readonly string[];
  readonly onUpdate: (update: SessionUpdate) => void;
  readonly onPermission: (request: RequestPermissionRequest) => RequestPermissionResponse;
}

export interface OpenedSession {
  readonly id: string;
  /** It goes on with the conversation that it had before. */
  readonly resumed: boolean;
}

export class AgentConnection {
  readonly #connection: ClientConnection;
  #errors = '';
  #sessionId: string | null = null;

  private constructor(
    private readonly process: GuardedProcess,
    options: AgentOptions,
  ) {
    process.errors.setEncoding('utf8').on('data', (text: string) => (this.#errors = (this.#errors + text).slice(-KEPT_ERROR_CHARACTERS)));
    const stream = ndJsonStream(Writable.toWeb(process.input), Readable.toWeb(process.output) as ReadableStream<Uint8Array>);
    this.#connection = client({ name: CLIENT.name })
      .onNotification(methods.client.session.update, ({ params }) => {
        if (params.sessionId === this.#sessionId) options.onUpdate(params.update);
      })
      .onRequest(methods.client.session.requestPermission, ({ params }) => options.onPermission(params))
      .connect(stream);
  }

  /** Starts the agent's process. Whoever opens it ends it. */
  static async start(options: AgentOptions): Promise<AgentConnection> {
    return new AgentConnection(await startGuardedProcess({ argv: options.command, ...options }), options);
  }

  /** Resolves when the process is gone, with what can be said of that. */
  async gone(): Promise<string> {
    const how = await this.process.exit;
    const errors = canonicalText(this.#errors.trim());
    return `its agent ended with ${how}${errors === '' ? '' : `: ${errors}`}`;
  }

  /**
   * Shakes hands and opens the session: the earlier one where the agent can go on with it, else a new one. Our MCP servers are all that
   * it is given. Throws `AgentUnusableError`, or the error of a request.
   */
  async open(cwd: string, mcpServers: McpServer[], earlierId: string | null): Promise<OpenedSession> {
    const { agent } = this.#connection;
    const ready: InitializeResponse = await agent.request(methods.agent.initialize, {
      protocolVersion: PROTOCOL_VERSION,
      clientCapabilities: { fs: { readTextFile: false, writeTextFile: false }, terminal: false },
      clientInfo: CLIENT,
    });
    refuseUnusable(ready, mcpServers);
    if (earlierId !== null && (await this.#reopen(ready, { cwd, mcpServers, sessionId: earlierId })))
      return { id: earlierId, resumed: true };
    const { sessionId } = await agent.request(methods.agent.session.new, { cwd, mcpServers });
    return { id: sessionId, resumed: false };
  }

  /** Sends the prompt; from here on the session's updates are of this turn. */
  async prompt(sessionId: string, prompt: ContentBlock[]): Promise<PromptEnd> {
    this.#sessionId = sessionId;
    try {
      const { stopReason, usage } = await this.#connection.agent.request(methods.agent.session.prompt, { sessionId, prompt });
      // Updates that came before the response may still be on their way through the connection's queue.
      await new Promise((resolve) => setImmediate(resolve));
      return { end: 'answered', stopReason, usage: toUsage(usage) };
    } catch (error) {
      if (error instanceof RequestError) return { end: 'failed', message: describe(error) };
      // Whoever has closed its streams is of no more use, whether or not its process is gone.
      await this.process.end(0);
      return { end: 'crashed', message: await this.gone() };
    }
  }

  /** Asks the agent to end the prompt; it answers the prompt when it has. */
  async cancel(sessionId: string): Promise<void> {
    await this.#connection.agent.notify(methods.agent.session.cancel, { sessionId }).catch(() => undefined);
  }

  /** Ends the process and all that it started. */
  async end(graceMs: number): Promise<void> {
    await this.process.end(graceMs);
    this.#connection.close();
  }

  /** Goes on with an earlier session without its history being told again, or with it; `false` where the agent cannot, or has lost it. */
  async #reopen(ready: InitializeResponse, params: { cwd: string; mcpServers: McpServer[]; sessionId: string }): Promise<boolean> {
    const { loadSession, sessionCapabilities } = ready.agentCapabilities ?? {};
    const { agent } = this.#connection;
    try {
      if (sessionCapabilities?.resume) await agent.request(methods.agent.session.resume, params);
      else if (loadSession) await agent.request(methods.agent.session.load, params);
      else return false;
      return true;
    } catch (error) {
      if (error instanceof RequestError) return false;
      throw error;
    }
  }
}

function toUsage(usage: PromptResponse['usage']): Usage {
  return {
    inputTokens: usage?.inputTokens ?? null,
    outputTokens: usage?.outputTokens ?? null,
    cachedInputTokens: usage?.cachedReadTokens ?? null,
    reasoningTokens: usage?.thoughtTokens ?? null,
  };
}

/** An error of a request as people read it. */
export function describe(error: unknown): string {
  const message = error instanceof Error ? error.message : String(error);
  const data: unknown = error instanceof RequestError ? error.data : null;
  const details = typeof data === 'object' && data !== null && 'details' in data ? `: ${String(data.details)}` : '';
  return canonicalText(message + details).slice(0, KEPT_ERROR_CHARACTERS);
}

function refuseUnusable({ protocolVersion, agentCapabilities }: InitializeResponse, mcpServers: readonly McpServer[]): void {
  if (protocolVersion !== PROTOCOL_VERSION)
    throw new AgentUnusableError(`the agent speaks ACP version ${protocolVersion}, and Echelon ${PROTOCOL_VERSION}`);
  if (mcpServers.length > 0 && agentCapabilities?.mcpCapabilities?.http !== true)
    throw new AgentUnusableError('the agent takes no MCP server over HTTP, so that it cannot be given the tools of its task');
}
