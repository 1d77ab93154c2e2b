/** The worker: a task on a server of its own, run by its worker, with the journal on Postgres. */
import { mkdirSync, symlinkSync } from 'node:fs';
import path from 'node:path';
import type { Turn } from '@echelon/contracts';
import { waitFor } from '@echelon/testkit';
import { type Node, StoryWorld } from '../../story/story-world.js';
import type { Stage } from './index.js';
import { fallbackOf } from '../parity-model.js';
import type { Run, Surface, Told } from '../scenario.js';

const SECONDS = 60;

export async function createWorkerSurface({ modelUrl, data }: Stage): Promise<Surface> {
  const world = await StoryWorld.open([], {
    settings: { ECHELON_MODEL_BASE_URL: modelUrl, ECHELON_DATA_DIR: data, ECHELON_LOG_LEVEL: 'error' },
  });
  const node = await world.startNode();
  const workspace = await node.api.workspaces.create({ name: 'parity' });
  return {
    name: 'worker',
    stopsAs: ({ reason }) => (reason === 'cancelled' ? 'stopped' : reason),
    run: (run) => new Task(node, { workspaceId: workspace.id, root: path.join(data, 'workspaces') }, run).play(),
    close: () => world.close(),
  };
}

class Task {
  constructor(
    private readonly node: Node,
    private readonly place: { readonly workspaceId: string; readonly root: string },
    private readonly run: Run,
  ) {}

  async play(): Promise<Told> {
    const { scenario, due } = this.run;
    const sessionId = await this.create();
    const [first = 'Go.', ...more] = scenario.prompts ?? [];
    if (scenario.cancel) void due(scenario.cancel).then(() => this.stop(sessionId));
    await this.say(sessionId, first);
    const turns = [await this.untilEnded(sessionId, 1)];
    for (const prompt of more) {
      await this.say(sessionId, prompt);
      turns.push(await this.untilEnded(sessionId, turns.length + 1));
    }
    return { stops: turns.map(({ outcome }) => outcome ?? ''), texts: await Promise.all(turns.map((turn) => this.textOf(turn))) };
  }

  /** A task that waits for its first message, in the scenario's folder. */
  private async create(): Promise<string> {
    const { api } = this.node;
    const { scenario, folder, model } = this.run;
    const profile = await api.profiles.create({
      workspace_id: this.place.workspaceId,
      name: model,
      provider: 'compatible',
      model,
      fallback_models: scenario.fallback ? [fallbackOf(model)] : [],
      hooks: scenario.hooks ?? {},
      context_window: scenario.contextWindow ?? null,
      budgets: {
        ...(scenario.launches === undefined ? {} : { max_tool_launches: scenario.launches }),
        ...(scenario.tokens === undefined ? {} : { max_tokens: scenario.tokens }),
      },
    });
    const task = await api.tasks.create({
      workspace_id: this.place.workspaceId,
      profile_id: profile.id,
      title: model,
      prompt: 'Not sent.',
      start_agent: false,
    });
    mkdirSync(this.place.root, { recursive: true });
    symlinkSync(folder, path.join(this.place.root, task.id));
    return task.primary_session_id ?? '';
  }

  private async say(sessionId: string, text: string): Promise<void> {
    const { task_id: taskId } = await this.node.api.sessions.get(sessionId);
    await this.node.api.tasks.sendMessage(taskId, { prompt: text });
  }

  private async stop(sessionId: string): Promise<void> {
    const { items } = await this.node.api.sessions.listTurns(sessionId);
    const running = items.find(({ ended_at }) => ended_at === null);
    if (running) await this.node.api.turns.stop(running.id);
  }

  private untilEnded(sessionId: string, number: number): Promise<Turn> {
    const find = async (): Promise<Turn | undefined> => {
      const { items } = await this.node.api.sessions.listTurns(sessionId);
      return items.find((turn) => turn.number === number && turn.ended_at !== null);
    };
    return waitFor(`turn ${number} of ${this.run.model} has ended`, find, SECONDS);
  }

  private async textOf({ id, session_id: sessionId }: Turn): Promise<string> {
    const { items } = await this.node.api.sessions.listMessages(sessionId, { limit: 200 });
    const last = items.findLast((message) => message.turn_id === id && message.type === 'response');
    return (last?.parts ?? []).flatMap((part) => (part.type === 'text' ? [part.text] : [])).join('');
  }
}
