/** The doors through which an agent's message comes, each called as its users call it; what comes back is a status or a code. */
import { validateArguments } from '@echelon/agent-loop';
import { ApiError, createApiClient } from '@echelon/api-client';
import { main } from '@echelon/cli';
import { createToolCatalogue } from '@echelon/tools';
import { PassThrough } from 'node:stream';
import { connectModern } from '../support/mcp-clients.js';
import type { RunningServer } from '../support/running-server.js';

export interface Reply {
  readonly task_id: string;
  readonly session_id?: string;
  readonly reply_to_question_id: string;
  readonly prompt: string;
}

/** Sends a reply with somebody's token. */
export type Door = (server: RunningServer, token: string, reply: Reply) => Promise<string>;

async function overRest({ url }: RunningServer, token: string, { task_id, ...message }: Reply): Promise<string> {
  try {
    return (await createApiClient({ baseUrl: url, token }).tasks.sendMessage(task_id, message)).status;
  } catch (error) {
    if (error instanceof ApiError) return error.code;
    throw error;
  }
}

async function overMcp({ url }: RunningServer, token: string, reply: Reply): Promise<string> {
  const client = await connectModern(url, token, 'auto');
  const result = await client.call('message_task_kandev', reply);
  await client.close();
  return wordOf(result.isError, result.text, result.structured);
}

async function inTheLoop({ services }: RunningServer, token: string, reply: Reply): Promise<string> {
  const caller = await services.tokens.authenticate(token);
  const tool = createToolCatalogue({ services }).find('message_task_kandev');
  if (!caller || !tool) throw new Error('nobody calls, or nothing');
  const validation = validateArguments(tool, JSON.stringify(reply));
  if (!validation.valid) return 'INVALID_INPUT';
  const call = {
    callId: crypto.randomUUID(),
    signal: AbortSignal.timeout(20_000),
    context: { actor: caller.actor, surface: 'loop' as const },
  };
  const result = await tool.execute(validation.input, call);
  return wordOf(result.isError, result.text, result.structured);
}

async function onTheCommandLine({ url }: RunningServer, token: string, reply: Reply): Promise<string> {
  const [out, err] = [new PassThrough(), new PassThrough()];
  const session = reply.session_id ? ['--session', reply.session_id] : [];
  const command = ['task', 'message', reply.task_id, reply.prompt, '--reply-to', reply.reply_to_question_id, ...session, '--json'];
  const code = await main(['node', 'echelon', '--url', url, '--token', token, ...command], { out, err, interactive: false });
  if (code === 0) return (JSON.parse(String(out.read())) as { status: string }).status;
  return codeIn((JSON.parse(String(err.read())) as { error: string }).error);
}

function wordOf(isError: boolean, text: string, structured: Readonly<Record<string, unknown>> | undefined): string {
  return isError ? codeIn(text) : String(structured?.['status']);
}

/** The code that a message begins with. */
function codeIn(text: string): string {
  return /[A-Z]+(_[A-Z]+)+/.exec(text)?.[0] ?? text;
}

export const DOORS: Readonly<Record<string, Door>> = { REST: overRest, MCP: overMcp, loop: inTheLoop, 'command line': onTheCommandLine };
