import { type ChildProcess, spawn } from 'node:child_process';
import { Readable, Writable } from 'node:stream';
import {
  client,
  type ClientCapabilities,
  type ClientConnection,
  type ClientContext,
  type InitializeResponse,
  type McpServer,
  methods,
  ndJsonStream,
  PROTOCOL_VERSION,
  type PromptResponse,
  type RequestPermissionRequest,
  type RequestPermissionResponse,
  type SessionUpdate,
} from '@agentclientprotocol/sdk/unstable';

type Answer = (request: RequestPermissionRequest, signal: AbortSignal) => Promise<RequestPermissionResponse> | RequestPermissionResponse;
type Kind = SessionUpdate['sessionUpdate'];
type UpdateOf<Type extends Kind> = Extract<SessionUpdate, { sessionUpdate: Type }>;

interface NewSession {
  readonly modeId?: string | undefined;
  readonly mcpServers?: McpServer[];
}

/** What happened, in the order in which the editor saw it. */
export type Seen =
  { readonly sessionId: string; readonly update: SessionUpdate } | { readonly sessionId: string; readonly asked: RequestPermissionRequest };

export const choose = (optionId: string): RequestPermissionResponse => ({ outcome: { outcome: 'selected', optionId } });

/** The official client, driving one agent process. */
export class Editor {
  readonly seen: Seen[] = [];
  /** Answers what the agent asks; set per test. */
  answer: Answer = () => choose('allow_once');
  errors = '';
  initialized!: InitializeResponse;
  readonly exited: Promise<number | null>;
  private readonly connection: ClientConnection;
  private watchers: (() => void)[] = [];

  private constructor(private readonly child: ChildProcess & { stdin: Writable; stdout: Readable; stderr: Readable }) {
    this.exited = new Promise((resolve) => child.once('close', resolve));
    child.stderr.setEncoding('utf8').on('data', (text: string) => (this.errors += text));
    this.connection = client({ name: 'spec' })
      .onRequest(methods.client.session.requestPermission, ({ params, signal }) => {
        this.note({ sessionId: params.sessionId, asked: params });
        return this.answer(params, signal);
      })
      .onNotification(methods.client.session.update, ({ params }) => this.note(params))
      .connect(ndJsonStream(Writable.toWeb(child.stdin), Readable.toWeb(child.stdout) as ReadableStream<Uint8Array>));
  }

  static async start(
    [program = '', ...args]: readonly string[],
    env: NodeJS.ProcessEnv,
    capabilities: ClientCapabilities,
  ): Promise<Editor> {
    const child = spawn(program, args, { env, stdio: ['pipe', 'pipe', 'pipe'] });
    const editor = new Editor(child);
    editor.initialized = await editor.agent.request(methods.agent.initialize, {
      protocolVersion: PROTOCOL_VERSION,
      clientCapabilities: capabilities,
    });
    return editor;
  }

  get agent(): ClientContext {
    return this.connection.agent;
  }

  get pid(): number {
    return this.child.pid ?? 0;
  }

  /** Begins a session in a folder and returns its id. */
  async newSession(cwd: string, { modeId, mcpServers = [] }: NewSession = {}): Promise<string> {
    const { sessionId } = await this.agent.request(methods.agent.session.new, { cwd, mcpServers });
    if (modeId !== undefined) await this.setMode(sessionId, modeId);
    return sessionId;
  }

  async setMode(sessionId: string, modeId: string): Promise<void> {
    await this.agent.request(methods.agent.session.setMode, { sessionId, modeId });
  }

  prompt(sessionId: string, text: string): Promise<PromptResponse> {
    return this.agent.request(methods.agent.session.prompt, { sessionId, prompt: [{ type: 'text', text }] });
  }

  cancel(sessionId: string): Promise<void> {
    return this.agent.notify(methods.agent.session.cancel, { sessionId });
  }

  updates<Type extends Kind>(sessionId: string, type: Type): readonly UpdateOf<Type>[] {
    const all = this.seen.flatMap((seen) => (seen.sessionId === sessionId && 'update' in seen ? [seen.update] : []));
    return all.filter((update): update is UpdateOf<Type> => update.sessionUpdate === type);
  }

  asked(sessionId: string): readonly RequestPermissionRequest[] {
    return this.seen.flatMap((seen) => (seen.sessionId === sessionId && 'asked' in seen ? [seen.asked] : []));
  }

  /** What the agent said in a session. */
  said(sessionId: string): string {
    return this.updates(sessionId, 'agent_message_chunk')
      .map(({ content }) => (content.type === 'text' ? content.text : ''))
      .join('');
  }

  /** The life of each call as this editor saw it: `id status`, `id asked`, `id output`. */
  callStory(sessionId: string): readonly string[] {
    return this.seen.flatMap((seen) => {
      if (seen.sessionId !== sessionId) return [];
      if ('asked' in seen) return [`${seen.asked.toolCall.toolCallId} asked`];
      const { update } = seen;
      if (update.sessionUpdate !== 'tool_call' && update.sessionUpdate !== 'tool_call_update') return [];
      return [`${update.toolCallId} ${update.status ?? 'output'}`];
    });
  }

  /** Resolves once what was seen fits. */
  async until(fits: () => boolean): Promise<void> {
    while (!fits()) await new Promise<void>((resolve) => this.watchers.push(resolve));
  }

  /** Closes the agent's stdin, as an editor that goes away does, and returns the exit code. */
  leave(): Promise<number | null> {
    this.child.stdin.end();
    return this.exited;
  }

  async kill(): Promise<void> {
    this.child.kill('SIGKILL');
    await this.exited;
  }

  private note(seen: Seen): void {
    this.seen.push(seen);
    const { watchers } = this;
    this.watchers = [];
    for (const wake of watchers) wake();
  }
}
