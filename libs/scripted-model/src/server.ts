/** The scripted model over real HTTP: three dialects, one script, every request recorded. */
import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { runScript, type AgentScript } from './agent-script.js';
import { anthropicMessages } from './anthropic-messages.js';
import { chatCompletions } from './chat-completions.js';
import { completeResponse } from './complete-response.js';
import { Connection, type ConnectionEnd } from './connection.js';
import type { Dialect, ParsedRequest } from './dialect.js';
import { openaiResponses } from './openai-responses.js';
import { respond } from './respond.js';
import type { DialectName, ScriptedResponse } from './script.js';

const DIALECTS: readonly Dialect[] = [chatCompletions, openaiResponses, anthropicMessages];
const MODELS = ['scripted', 'scripted-demo'] as const;

export interface RecordedRequest {
  readonly index: number;
  readonly dialect: DialectName;
  readonly headers: IncomingHttpHeaders;
  /** The parsed JSON body. */
  readonly body: unknown;
  /** The body as it came over the wire. */
  readonly rawBody: string;
  /** Settles when the response has ended. */
  readonly ended: Promise<ConnectionEnd>;
}

export interface ScriptedModelOptions {
  /** A function, or the steps of one conversation. */
  readonly script: AgentScript;
  /** 0 or absent: a free port. Listens on 127.0.0.1 only. */
  readonly port?: number;
  /** `false` keeps no requests, for a process that runs for long; `requestCount` still counts. */
  readonly record?: boolean;
}

export interface ScriptedModel {
  /** Base URL with `/v1`, as provider clients want it. */
  readonly url: string;
  readonly requests: readonly RecordedRequest[];
  /** Model requests so far, refused ones included. */
  readonly requestCount: number;
  setScript(script: AgentScript): void;
  /** Resolves when `count` requests have been received. */
  waitForRequest(count: number): Promise<void>;
  /** Breaks open responses and stops listening. */
  close(): Promise<void>;
}

/** Starts a scripted model. A script that throws answers with status 500 and the error's message. */
export async function startScriptedModel(options: ScriptedModelOptions): Promise<ScriptedModel> {
  const model = new ScriptedModelServer(options);
  await model.listen(options.port ?? 0);
  return model;
}

class ScriptedModelServer implements ScriptedModel {
  readonly requests: RecordedRequest[] = [];
  requestCount = 0;
  url = '';
  private script: AgentScript;
  private readonly record: boolean;
  /** It never gives up an idle connection: a client that takes one up again just then would fail for no reason of a script. */
  private readonly server = createServer({ keepAliveTimeout: 0 }, (request, response) => {
    this.handle(request, response).catch((error: Error) => response.destroy(error));
  });
  private waiting: { readonly count: number; readonly resolve: () => void }[] = [];

  constructor({ script, record }: ScriptedModelOptions) {
    this.script = script;
    this.record = record ?? true;
  }

  async listen(port: number): Promise<void> {
    await new Promise<void>((resolve, reject) => {
      this.server.once('error', reject);
      this.server.listen(port, '127.0.0.1', resolve);
    });
    this.url = `http://127.0.0.1:${(this.server.address() as AddressInfo).port}/v1`;
  }

  setScript(script: AgentScript): void {
    this.script = script;
  }

  waitForRequest(count: number): Promise<void> {
    if (this.requestCount >= count) return Promise.resolve();
    return new Promise((resolve) => this.waiting.push({ count, resolve }));
  }

  close(): Promise<void> {
    return new Promise((resolve) => {
      this.server.close(() => resolve());
      this.server.closeAllConnections();
    });
  }

  private async handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const path = new URL(request.url ?? '/', 'http://localhost').pathname;
    if (request.method === 'GET' && path === '/v1/models') return sendJson(response, 200, listModels());
    const dialect = DIALECTS.find((candidate) => path === `/v1${candidate.path}`);
    if (request.method !== 'POST' || dialect === undefined)
      return sendJson(response, 404, { error: { message: 'scripted: no such path' } });
    const rawBody = await text(request).catch(() => null);
    if (rawBody !== null) await this.answer({ dialect, headers: request.headers, rawBody, connection: new Connection(response) });
  }

  private async answer({ dialect, headers, rawBody, connection }: Received): Promise<void> {
    const index = this.requestCount;
    const body = parseJson(rawBody);
    if (this.record) this.requests.push({ index, dialect: dialect.name, headers, body, rawBody, ended: connection.ended });
    this.requestCount += 1;
    this.wake();
    const parsed = parseRequest(dialect, body);
    const scripted = parsed instanceof Error ? failure(400, parsed) : await this.run(parsed, index);
    const { model, stream } = parsed instanceof Error ? { model: 'scripted', stream: false } : parsed;
    await respond({ connection, dialect, scripted, complete: completeResponse(scripted, model, rawBody), stream });
  }

  private async run(request: ParsedRequest, index: number): Promise<ScriptedResponse> {
    try {
      return await runScript(this.script, { ...request, index });
    } catch (error) {
      return failure(500, error instanceof Error ? error : new Error(String(error)));
    }
  }

  private wake(): void {
    for (const waiter of this.waiting) if (waiter.count <= this.requestCount) waiter.resolve();
    this.waiting = this.waiting.filter((waiter) => waiter.count > this.requestCount);
  }
}

interface Received {
  readonly dialect: Dialect;
  readonly headers: IncomingHttpHeaders;
  readonly rawBody: string;
  readonly connection: Connection;
}

function parseJson(rawBody: string): unknown {
  try {
    return JSON.parse(rawBody);
  } catch {
    return null;
  }
}

function parseRequest(dialect: Dialect, body: unknown): ParsedRequest | Error {
  try {
    return dialect.parse(body);
  } catch (error) {
    return error instanceof Error ? error : new Error(String(error));
  }
}

function failure(status: number, { message }: Error): ScriptedResponse {
  return {
    faults: [{ kind: 'status', status, body: JSON.stringify({ error: { type: 'scripted_error', message: `scripted: ${message}` } }) }],
  };
}

function listModels() {
  return { object: 'list', data: MODELS.map((id) => ({ id, object: 'model', created: 0, owned_by: 'scripted' })) };
}

function sendJson(response: ServerResponse, status: number, body: unknown): void {
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
}
