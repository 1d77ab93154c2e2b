import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { PassThrough } from 'node:stream';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { main } from '@echelon/cli';
import type { Task, Workflow } from '@echelon/contracts';
import { type RunningServer, startServer } from '../../../test/support/running-server.js';

let server: RunningServer;
let workspaceId: string;
let folder: string;

beforeAll(async () => {
  server = await startServer();
  workspaceId = (await server.client.workspaces.create({ name: 'steps' })).id;
  await server.client.profiles.create({ workspace_id: workspaceId, name: 'default', provider: 'scripted', model: 'any' });
  folder = await mkdtemp(path.join(tmpdir(), 'echelon-workflow-'));
});
afterAll(async () => {
  await server.stop();
  await rm(folder, { recursive: true });
});

async function run(...args: readonly string[]) {
  const [out, err] = [new PassThrough(), new PassThrough()];
  const code = await main(['node', 'echelon', '--url', server.url, '--token', server.token, ...args], { out, err, interactive: false });
  return { code, out: String(out.read() ?? ''), err: String(err.read() ?? '') };
}

async function json<T>(...args: readonly string[]): Promise<T> {
  const { code, out, err } = await run(...args, '--json');
  if (code !== 0) throw new Error(err);
  return JSON.parse(out) as T;
}

describe('echelon workflow', () => {
  test('creates one of named steps, shows and lists it, and a task goes into it and through it', async () => {
    const create = ['workflow', 'create', 'Usual', '--workspace', workspaceId, '--step', 'Plan', 'Build', 'Done'];
    const made = await json<Workflow>(...create, '--default');
    expect(made).toMatchObject({
      is_default: true,
      steps: [{ on_turn_complete: 'move_to_next' }, {}, { name: 'Done', on_turn_complete: 'none' }],
    });
    expect((await run('workflow', 'list', '--workspace', workspaceId)).out).toBe(`${made.id}  Usual  default  Plan → Build → Done\n`);
    expect((await run('workflow', 'show', made.id)).out).toContain(`3  ${made.steps[2]?.id}  Done`);
    const task = await json<Task>('task', 'create', 'Do it.', '--workspace', workspaceId, '--no-start', '--workflow', 'default');
    expect(task.workflow_step?.name).toBe('Plan');
    expect((await run('task', 'move', task.id, 'Build')).out).toBe('in Build\n');
    expect(await json('task', 'move', task.id, made.steps[2]?.id ?? '')).toMatchObject({
      deferred: false,
      workflow_step: { name: 'Done' },
    });
    expect(await run('task', 'move', task.id, 'Nowhere')).toMatchObject({
      code: 2,
      err: expect.stringContaining('it has Plan, Build, Done'),
    });
  });

  test('creates one from a file, and says what is wrong with one', async () => {
    const file = path.join(folder, 'steps.json');
    const create = ['workflow', 'create', 'Filed', '--workspace', workspaceId, '--file', file];
    await writeFile(file, JSON.stringify([{ name: 'Do', requires_signal: true, instructions: 'Do it.' }]));
    expect(await json(...create)).toMatchObject({ steps: [{ name: 'Do', requires_signal: true, instructions: 'Do it.' }] });
    await writeFile(file, JSON.stringify([{ name: 'Do', requires: true }]));
    expect(await run(...create)).toMatchObject({ code: 2, err: expect.stringContaining('The steps are not well formed: steps.0') });
    await writeFile(file, 'no json');
    expect(await run(...create)).toMatchObject({ code: 2, err: expect.stringContaining('cannot be read') });
  });
});
