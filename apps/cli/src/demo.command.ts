/** `echelon demo`: a hierarchy of four agents, a question relayed two hops up, and the file that a leaf writes. */
import path from 'node:path';
import { type ApiClient, ConnectionError } from '@echelon/api-client';
import type { AgentProfile, ParentQuestion, Task } from '@echelon/contracts';
import { readConfig } from '@echelon/platform/start';
import type { Command } from 'commander';
import { connect, type ConnectionOptions } from './connection.js';
import { DEMO_MODEL, DEMO_PROMPT } from './demo-prompts.js';
import { CommandError } from './exit-code.js';
import { flatten, readTree } from './task-tree.js';
import { print, type Terminal } from './terminal.js';
import { watchTask } from './watch.js';

interface DemoOptions extends ConnectionOptions {
  readonly json?: boolean;
  readonly scripted?: boolean;
}

const WORKSPACE = 'demo';
const DEPTH = 4;

export function addDemoCommand(program: Command, terminal: Terminal): void {
  program
    .command('demo')
    .description('play a four-level hierarchy: on your model where a key is set, else on a scripted one')
    .option('--scripted', 'use the scripted model although a real one is set up')
    .action((_options: unknown, command: Command) => runDemo(terminal, command.optsWithGlobals()));
}

async function runDemo(terminal: Terminal, options: DemoOptions): Promise<void> {
  const server = await openServer(options, terminal);
  try {
    await play(server.api, terminal, options);
  } finally {
    await server.close();
  }
}

interface OpenServer {
  readonly api: ApiClient;
  close(): Promise<void>;
}

/** The server that runs already, else one of our own on the same data for as long as the demo lasts. */
async function openServer(options: DemoOptions, terminal: Terminal): Promise<OpenServer> {
  const running = await findServer(options);
  if (running) return { api: running, close: () => Promise.resolve() };
  if (options.url) throw new CommandError(`Nothing answers at ${options.url}.`, 3);
  if (!options.json) terminal.err.write('No server runs here: starting one for the demo …\n');
  const { startServer } = await import('./running-server.js');
  const started = await startServer({ port: 0 });
  const { url, first } = started;
  if (first.token) return { api: connect({ url, token: first.token }), close: () => started.close() };
  await started.close();
  throw new CommandError('The operator’s token is not known here: pass --token, or set ECHELON_TOKEN.');
}

async function findServer(options: DemoOptions): Promise<ApiClient | null> {
  try {
    const api = connect(options);
    await api.workspaces.list({ limit: 1 });
    return api;
  } catch (error) {
    if (error instanceof ConnectionError || (error instanceof CommandError && !options.token)) return null;
    throw error;
  }
}

async function play(api: ApiClient, terminal: Terminal, options: DemoOptions): Promise<void> {
  const json = options.json === true;
  const profile = await prepareProfile(api, options.scripted === true);
  const scripted = profile.provider === 'scripted';
  if (!json)
    terminal.out.write(
      `Model: ${scripted ? 'SCRIPTED — a script plays all four agents; set a provider’s key for a real model' : `${profile.provider} ${profile.model}`}\n\n`,
    );
  const root = await api.tasks.create({
    workspace_id: profile.workspace_id,
    profile_id: profile.id,
    title: 'Welcome page',
    prompt: DEMO_PROMPT,
  });
  await watchTask(api, root.id, { terminal: json ? { ...terminal, out: terminal.err, interactive: false } : terminal, json: false });
  await report(api, terminal, { root, scripted, json });
}

/** A profile of the demo's own workspace: of the provider that other profiles use, or of the scripted one. */
async function prepareProfile(api: ApiClient, scripted: boolean): Promise<AgentProfile> {
  const workspaces = await api.workspaces.list({ limit: 200 });
  const workspace = workspaces.items.find(({ name }) => name === WORKSPACE) ?? (await api.workspaces.create({ name: WORKSPACE }));
  const others = (await api.profiles.list({ limit: 200 })).items.filter(
    (profile) => profile.runtime === 'loop' && profile.provider !== 'scripted' && !profile.archived_at,
  );
  const real = scripted ? undefined : others[0];
  const wanted = real
    ? { name: `demo ${real.provider} ${real.model}`, provider: real.provider, model: real.model }
    : { name: 'demo scripted', provider: 'scripted', model: DEMO_MODEL };
  const own = (await api.profiles.list({ limit: 200, workspace_id: workspace.id })).items.find(({ name }) => name === wanted.name);
  return own ?? api.profiles.create({ workspace_id: workspace.id, ...wanted });
}

interface Played {
  readonly root: Task;
  readonly scripted: boolean;
  readonly json: boolean;
}

async function report(api: ApiClient, terminal: Terminal, { root, scripted, json }: Played): Promise<void> {
  const tasks = flatten(await readTree(api, root.id));
  const questions = await readQuestions(api, tasks);
  const file = path.join(readConfig().workspaceRoot, root.id, 'greeting.txt');
  print(terminal, json, { scripted, tasks, questions, file }, () => [
    '',
    ...questions.map(
      (question) =>
        `Question of ${titleOf(tasks, question.task_id)} → ${titleOf(tasks, question.parent_task_id)}: ${question.status}${question.answer ? ` (${question.answer.text})` : ''}`,
    ),
    `The leaf’s file: ${file}`,
  ]);
  const unfinished = tasks.filter((task) => task.state !== 'completed');
  if (tasks.length < DEPTH || unfinished.length > 0)
    throw new CommandError(`The demo did not come to its end: ${tasks.length} tasks, ${unfinished.length} of them not completed.`);
}

/** The questions of the hierarchy, in the order in which they were asked. */
async function readQuestions(api: ApiClient, tasks: readonly Task[]): Promise<readonly ParentQuestion[]> {
  const pages = await Promise.all(tasks.map((task) => api.questions.list({ kind: 'parent', task_id: task.id })));
  const questions = pages.flatMap((page) => page.items).filter((question): question is ParentQuestion => 'parent_task_id' in question);
  return questions.toSorted((a, b) => (a.asked_at < b.asked_at ? -1 : 1));
}

function titleOf(tasks: readonly Task[], id: string): string {
  return tasks.find((task) => task.id === id)?.title ?? id;
}
