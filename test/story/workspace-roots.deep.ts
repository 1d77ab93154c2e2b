/** A server and workers on machines that share no folder: what lies on one runs there and nowhere else, whoever comes and goes. */
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, jest, test } from '@jest/globals';
import type { ApiClient } from '@echelon/api-client';
import type { AgentProfile, Task } from '@echelon/contracts';
import type { ScriptedRequest, ScriptedResponse } from '@echelon/scripted-model';
import { type Program, startTestRedis, type TestRedis, waitFor } from '@echelon/testkit';
import { describeWithRedis } from '@echelon/testkit/jest';
import { findViolations } from '../support/invariants.js';
import { StoryWorld } from './story-world.js';

jest.setTimeout(300_000);
const SECONDS = 90;

/** Writes the file that the last message names into its folder. */
function writeNamedFile({ messages }: ScriptedRequest): ScriptedResponse {
  if (messages.at(-1)?.role === 'tool') return { text: 'Written.' };
  const name = /write (\w+\.txt)/.exec(messages.at(-1)?.text ?? '')?.[1] ?? 'unnamed.txt';
  return { toolCalls: [{ name: 'write_file', arguments: { path: name, content: name } }] };
}

describe('with the queue on Postgres', () => describeRoots(() => ({})));
describeWithRedis('with the queue on Redis', () => {
  let redis: TestRedis;
  beforeAll(async () => {
    redis = await startTestRedis();
  });
  afterAll(() => redis.stop());
  describeRoots(() => ({ REDIS_URL: redis.url }));
});

function describeRoots(settings: () => Readonly<Record<string, string>>): void {
  let world: StoryWorld;
  let api: ApiClient;
  let profile: AgentProfile;
  let parent: string;

  beforeEach(async () => {
    parent = mkdtempSync(path.join(tmpdir(), 'echelon-roots-'));
    world = await StoryWorld.open(writeNamedFile, { settings: settings() });
    const server = world.start('apps/server/src/main.ts');
    const { url } = JSON.parse(await server.line(/"server\.started"/)) as { readonly url: string };
    api = world.connect(url);
    const workspace = await api.workspaces.create({ name: 'roots' });
    profile = await api.profiles.create({ workspace_id: workspace.id, name: 'writer', provider: 'scripted', model: 'scripted' });
  });
  afterEach(async () => {
    await world.close();
    rmSync(parent, { recursive: true, force: true });
  });

  const folder = (machine: string): string => path.join(parent, machine);

  /** A worker of a machine, which reaches that machine's folder alone. */
  async function startWorker(machine: string): Promise<Program> {
    const worker = world.start('apps/worker/src/main.ts', { ECHELON_WORKSPACE_ROOT: folder(machine) });
    await worker.line(/"worker\.started"/);
    return worker;
  }

  function create(prompt: string, place: { readonly parent_id: string } | object = {}): Promise<Task> {
    return api.tasks.create({ workspace_id: profile.workspace_id, profile_id: profile.id, prompt, ...place });
  }

  const isWritten = (machine: string, { id }: Task, file: string): boolean => existsSync(path.join(folder(machine), id, file));
  const written = (machine: string, task: Task, file: string) =>
    waitFor(`${file} on ${machine}`, () => isWritten(machine, task, file), SECONDS);

  async function rootOn(machine: string) {
    const { items } = await api.system.listWorkspaceRoots();
    return items.find((root) => root.path === folder(machine));
  }

  test('a machine’s tasks wait for it while another goes on, and a new worker on its folder takes them over [K3, K12]', async () => {
    const first = await startWorker('one');
    const task = await create('write first.txt');
    await written('one', task, 'first.txt');
    await first.kill('SIGKILL');

    await startWorker('two');
    await api.tasks.sendMessage(task.id, { prompt: 'write second.txt' });
    const child = await create('write third.txt', { parent_id: task.id });
    const apart = await create('write apart.txt', { parent_id: task.id, workspace_mode: 'new_workspace' });
    await written('two', apart, 'apart.txt');
    await waitFor('what waits for the first machine', async () => (await rootOn('one'))?.waiting_sessions === 2, SECONDS);
    expect(await rootOn('one')).toMatchObject({ workers: 0, waiting_sessions: 2 });
    expect(await rootOn('two')).toMatchObject({ workers: 1 });
    expect(existsSync(path.join(folder('two'), task.id))).toBe(false);

    await startWorker('one');
    await written('one', task, 'second.txt');
    await written('one', task, 'third.txt');
    await waitFor('nothing waits', async () => (await rootOn('one'))?.waiting_sessions === 0, SECONDS);
    expect((await api.system.listWorkspaceRoots()).items).toHaveLength(2);
    expect([isWritten('two', task, 'second.txt'), isWritten('two', task, 'third.txt'), isWritten('one', apart, 'apart.txt')]).toEqual([
      false,
      false,
      false,
    ]);
    expect(child.workspace_mode).toBe('inherit_parent');
    expect(await world.one(`SELECT 1 FROM event WHERE type = 'wake.lost'`)).toBeNull();
    expect(await findViolations(world.database)).toEqual({});
  });
}
