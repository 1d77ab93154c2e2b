/**
 * An agent that does what its first prompt says: a program of its own, on the official SDKs of both protocols.
 *
 * Its first message carries `[[turns]]` and a JSON array of turns, each an array of steps; it plays one turn a prompt, and answers `end_turn`
 * when no turn is left. It keeps its script and each prompt in files beside its work. It goes on with a session that it had before; with
 * `--load` it tells what was said in it, and with `--forgetful` it cannot. With `--no-http` it takes no MCP server over HTTP.
 */
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { Readable, Writable } from 'node:stream';
import {
  agent,
  type AgentContext,
  type ContentBlock,
  type McpServer,
  methods,
  ndJsonStream,
  PROTOCOL_VERSION,
  type SessionUpdate,
  type StopReason,
  type ToolKind,
} from '@agentclientprotocol/sdk/unstable';
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';

export type Step =
  | { readonly do: 'say'; readonly text: string }
  /** Says what it was given: its MCP servers, its tools there, and the names of its variables. */
  | { readonly do: 'describe' }
  /** Calls a tool of ours; `$NAME` in an argument stands for what its prompt says of NAME. */
  | { readonly do: 'call'; readonly tool: string; readonly arguments: Readonly<Record<string, unknown>> }
  | { readonly do: 'ask_permission'; readonly kind: ToolKind }
  /** Begins a tool call of its own, and does not end it. */
  | { readonly do: 'begin'; readonly tool: string }
  | { readonly do: 'write'; readonly file: string; readonly text: string }
  /** Works until it is cancelled; deaf, also then. */
  | { readonly do: 'work'; readonly deaf?: boolean }
  | { readonly do: 'crash' }
  | { readonly do: 'end'; readonly reason: StopReason };

interface Memory {
  turns: readonly (readonly Step[])[];
  played: number;
}

interface Session {
  readonly id: string;
  readonly cwd: string;
  readonly mcpServers: readonly McpServer[];
  cancel: AbortController;
  calls: number;
}

const MARK = '[[turns]]';
const flags = new Set(process.argv.slice(2));
let session: Session | null = null;

function open(params: { readonly sessionId?: string; readonly cwd: string; readonly mcpServers?: readonly McpServer[] | null }): Session {
  const id = params.sessionId ?? `session-${process.pid}`;
  return (session = { id, cwd: params.cwd, mcpServers: params.mcpServers ?? [], cancel: new AbortController(), calls: 0 });
}

function memoryFile({ cwd }: Session): string {
  return path.join(cwd, '.script.json');
}

function recall(current: Session, message: string): Memory {
  const file = memoryFile(current);
  if (existsSync(file)) return JSON.parse(readFileSync(file, 'utf8')) as Memory;
  const told = message.indexOf(MARK);
  return { turns: told < 0 ? [] : (JSON.parse(message.slice(told + MARK.length)) as Memory['turns']), played: 0 };
}

class Performance {
  constructor(
    private readonly current: Session,
    private readonly prompt: string,
    private readonly client: AgentContext,
  ) {}

  async play(steps: readonly Step[]): Promise<StopReason> {
    for (const step of steps) {
      const ended = await this.#step(step);
      if (ended) return ended;
    }
    return 'end_turn';
  }

  async #step(step: Step): Promise<StopReason | null> {
    switch (step.do) {
      case 'say':
        await this.#say(step.text);
        return null;
      case 'describe':
        await this.#say(JSON.stringify(await this.#describe()));
        return null;
      case 'call':
        await this.#call(step.tool, step.arguments);
        return null;
      case 'ask_permission':
        await this.#askPermission(step.kind);
        return null;
      case 'begin':
        await this.#update({
          sessionUpdate: 'tool_call',
          toolCallId: this.#nextCall(),
          title: step.tool,
          kind: 'execute',
          status: 'in_progress',
        });
        return null;
      case 'write':
        writeFileSync(path.join(this.current.cwd, step.file), step.text);
        return null;
      case 'work':
        return this.#work(step.deaf === true);
      case 'crash':
        return process.exit(3);
      case 'end':
        return step.reason;
    }
  }

  async #work(deaf: boolean): Promise<StopReason> {
    await this.#say('I work.');
    const { signal } = this.current.cancel;
    const alive = setInterval(() => undefined, 1_000);
    await new Promise<void>((resolve) => {
      if (deaf) return;
      if (signal.aborted) resolve();
      else signal.addEventListener('abort', () => resolve(), { once: true });
    });
    clearInterval(alive);
    return 'cancelled';
  }

  async #describe(): Promise<object> {
    const tools = await this.#withTools(async (client) => (await client.listTools()).tools.map(({ name }) => name));
    return {
      servers: this.current.mcpServers.length,
      tools: tools ?? [],
      variables: Object.keys(process.env).toSorted(),
      cwd: this.current.cwd,
    };
  }

  async #call(tool: string, given: Readonly<Record<string, unknown>>): Promise<void> {
    const toolCallId = this.#nextCall();
    const args = Object.fromEntries(Object.entries(given).map(([name, value]) => [name, this.#fill(value)]));
    await this.#update({
      sessionUpdate: 'tool_call',
      toolCallId,
      title: `echelon: ${tool}`,
      name: tool,
      kind: 'other',
      rawInput: args,
      status: 'in_progress',
    });
    const result = await this.#withTools((client) => client.callTool({ name: tool, arguments: args }));
    const { isError = false, content } = result as { isError?: boolean; content: readonly { text: string }[] };
    const text = content.map((part) => part.text).join('\n');
    await this.#update({
      sessionUpdate: 'tool_call_update',
      toolCallId,
      status: isError ? 'failed' : 'completed',
      content: [{ type: 'content', content: { type: 'text', text } }],
    });
  }

  async #askPermission(kind: ToolKind): Promise<void> {
    const { outcome } = await this.client.request(methods.client.session.requestPermission, {
      sessionId: this.current.id,
      toolCall: { toolCallId: this.#nextCall(), title: `a tool that is ${kind}`, kind },
      options: [
        { optionId: 'yes', name: 'Allow', kind: 'allow_once' },
        { optionId: 'always', name: 'Always', kind: 'allow_always' },
        { optionId: 'no', name: 'Reject', kind: 'reject_once' },
      ],
    });
    await this.#say(`${kind}: ${outcome.outcome === 'selected' ? outcome.optionId : outcome.outcome}.`);
  }

  #fill(value: unknown): unknown {
    if (typeof value !== 'string' || !value.startsWith('$')) return value;
    const found = new RegExp(`"${value.slice(1)}":"([^"]+)"`).exec(this.prompt)?.[1];
    if (found === undefined) throw new Error(`the prompt says nothing of ${value.slice(1)}`);
    return found;
  }

  async #withTools<T>(work: (client: Client) => Promise<T>): Promise<T | null> {
    const [server] = this.current.mcpServers;
    if (!server || !('url' in server)) return null;
    const headers = Object.fromEntries(server.headers.map(({ name, value }) => [name, value]));
    const client = new Client({ name: 'scripted-agent', version: '1' }, { versionNegotiation: { mode: 'auto' } });
    await client.connect(new StreamableHTTPClientTransport(new URL(server.url), { requestInit: { headers } }));
    try {
      return await work(client);
    } finally {
      await client.close();
    }
  }

  #nextCall(): string {
    this.current.calls += 1;
    return `call_${this.current.calls}`;
  }

  async #say(text: string): Promise<void> {
    await this.#update({ sessionUpdate: 'agent_message_chunk', content: { type: 'text', text } });
  }

  #update(update: SessionUpdate): Promise<void> {
    return this.client.notify(methods.client.session.update, { sessionId: this.current.id, update });
  }
}

async function play(blocks: readonly ContentBlock[], client: AgentContext) {
  if (!session) throw new Error('no session is open');
  const current = session;
  current.cancel = new AbortController();
  const texts = blocks.map((block) => (block.type === 'text' ? block.text : ''));
  const prompt = texts.join('\n');
  const memory = recall(current, texts.at(-1) ?? '');
  const steps = memory.turns[memory.played] ?? [];
  memory.played += 1;
  writeFileSync(memoryFile(current), JSON.stringify(memory));
  writeFileSync(path.join(current.cwd, `prompt-${memory.played}.txt`), prompt);
  const stopReason = await new Performance(current, prompt, client).play(steps);
  return { stopReason, usage: { inputTokens: 100, outputTokens: 20, totalTokens: 120 } };
}

agent({ name: 'scripted-agent' })
  .onRequest(methods.agent.initialize, () => ({
    protocolVersion: PROTOCOL_VERSION,
    agentCapabilities: {
      mcpCapabilities: { http: !flags.has('--no-http') },
      ...(flags.has('--forgetful') ? {} : flags.has('--load') ? { loadSession: true } : { sessionCapabilities: { resume: {} } }),
    },
  }))
  .onRequest(methods.agent.session.new, ({ params }) => ({ sessionId: open(params).id }))
  .onRequest(methods.agent.session.resume, ({ params }) => {
    open(params);
    return {};
  })
  .onRequest(methods.agent.session.load, async ({ params, client }) => {
    open(params);
    const update: SessionUpdate = { sessionUpdate: 'agent_message_chunk', content: { type: 'text', text: 'What I said before.' } };
    await client.notify(methods.client.session.update, { sessionId: params.sessionId, update });
    return {};
  })
  .onRequest(methods.agent.session.prompt, ({ params, client }) => play(params.prompt, client))
  .onNotification(methods.agent.session.cancel, () => session?.cancel.abort())
  .connect(ndJsonStream(Writable.toWeb(process.stdout), Readable.toWeb(process.stdin) as ReadableStream<Uint8Array>));
