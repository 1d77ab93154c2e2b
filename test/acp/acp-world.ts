/** Server and worker of the product, and agents that the worker starts and drives over ACP: programs that play what their prompt says. */
import { existsSync, readdirSync, readFileSync, readlinkSync } from 'node:fs';
import path from 'node:path';
import type { ApiClient } from '@echelon/api-client';
import type { AgentProfile, CreateTask, Message, Task, Turn } from '@echelon/contracts';
import { findFreePort, waitFor } from '@echelon/testkit';
import type { Step } from '../../libs/runtimes/src/acp/testing/scripted-agent.js';
import { type Node, StoryWorld } from '../story/story-world.js';

const ROOT = path.resolve(import.meta.dirname, '../..');
const AGENT = path.join(ROOT, 'libs/runtimes/src/acp/testing/scripted-agent.ts');
const WAIT_SECONDS = 90;

/** Turns of one agent, each a list of what it does. */
export type Turns = readonly (readonly Step[])[];

export type AgentFlag = '--forgetful' | '--load' | '--no-http';

/** What starts the agent; none of it is read by a shell. */
export function agentCommand(...flags: readonly AgentFlag[]): string[] {
  return [process.execPath, '--no-warnings', '--import', path.join(ROOT, 'scripts/source-loader.mjs'), AGENT, ...flags];
}

/** A prompt that carries an agent's script. */
export function script(words: string, turns: Turns): string {
  return `${words}\n[[turns]]${JSON.stringify(turns)}`;
}

export class AcpWorld {
  #node: Node | null = null;

  private constructor(
    readonly story: StoryWorld,
    private readonly profileId: { current: string; workspace: string },
  ) {}

  static async open(): Promise<AcpWorld> {
    const port = String(await findFreePort());
    const settings = {
      ECHELON_PORT: port,
      ECHELON_HAND_OVER_SECONDS: '1',
      ECHELON_AGENT_VARIABLES: 'ECHELON_TEST_SHOWN',
      ECHELON_TEST_SHOWN: '1',
      ECHELON_TEST_HIDDEN: '1',
    };
    const world = new AcpWorld(await StoryWorld.open([], { settings }), { current: '', workspace: '' });
    await world.start();
    world.profileId.workspace = (await world.api.workspaces.create({ name: 'acp' })).id;
    world.profileId.current = (await world.profile('agent')).id;
    return world;
  }

  get node(): Node {
    if (!this.#node) throw new Error('nothing runs');
    return this.#node;
  }

  get api(): ApiClient {
    return this.node.api;
  }

  get profile_id(): string {
    return this.profileId.current;
  }

  /** Starts server and worker in one process, again after their death. */
  async start(): Promise<void> {
    this.#node = await this.story.startNode();
  }

  profile(name: string, command: readonly string[] = agentCommand()): Promise<AgentProfile> {
    return this.api.profiles.create({ workspace_id: this.profileId.workspace, name, runtime: 'acp', command: [...command] });
  }

  /** A task whose agent plays the turns. */
  task(turns: Turns, given: Partial<CreateTask> & { readonly words?: string } = {}): Promise<Task> {
    const { words = 'Do it.', ...rest } = given;
    const place = rest.parent_id ? { workspace_mode: 'new_workspace' as const } : { workspace_id: this.profileId.workspace };
    return this.api.tasks.create({ ...place, title: 'A task', profile_id: this.profile_id, prompt: script(words, turns), ...rest });
  }

  /** The turns of a session once so many of them have ended. */
  ended(sessionId: string | null, count = 1): Promise<readonly Turn[]> {
    return waitFor(
      `the end of ${count} turns`,
      async () => {
        const { items } = await this.api.sessions.listTurns(sessionId!, { limit: 50 });
        const turns = items.toSorted((one, other) => one.number - other.number);
        return turns.length >= count && turns.every(({ status }) => status === 'finished') && turns;
      },
      WAIT_SECONDS,
    );
  }

  /** What the agent of a session has said, in order. */
  async said(sessionId: string | null): Promise<readonly string[]> {
    const { items } = await this.api.sessions.listMessages(sessionId!, { limit: 100 });
    return items.toSorted((one, other) => one.sequence - other.sequence).flatMap(textOf);
  }

  /** The prompt as the agent got it in its n-th turn. */
  promptOf(task: Task, turn: number): string {
    return readFileSync(path.join(this.folderOf(task), `prompt-${turn}.txt`), 'utf8');
  }

  hasPrompt(task: Task, turn: number): boolean {
    return existsSync(path.join(this.folderOf(task), `prompt-${turn}.txt`));
  }

  folderOf(task: Task): string {
    return path.join(this.story.env['ECHELON_DATA_DIR'] ?? '', 'workspaces', task.id);
  }

  /** Whether a process works in the task's folder. */
  isWorking(task: Task): boolean {
    const folder = this.folderOf(task);
    return readdirSync('/proc').some((pid) => /^\d+$/.test(pid) && workingFolder(pid) === folder);
  }

  waitFor<T>(fact: string, ask: () => T | Promise<T>) {
    return waitFor(fact, ask, WAIT_SECONDS);
  }

  close(): Promise<void> {
    return this.story.close();
  }
}

function workingFolder(pid: string): string | null {
  try {
    return readlinkSync(`/proc/${pid}/cwd`);
  } catch {
    return null;
  }
}

function textOf({ type, role, parts }: Message): readonly string[] {
  if (type !== 'response' || role !== 'assistant') return [];
  return parts.flatMap((part) => (part['type'] === 'text' ? [String(part['text'])] : []));
}
