import { PassThrough } from 'node:stream';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { main } from '@echelon/cli';
import { ApiError } from '@echelon/api-client';
import { type RunningServer, startServer, type TestAgent } from '../../../test/support/running-server.js';

let server: RunningServer;
let root: TestAgent;

beforeAll(async () => {
  server = await startServer();
  root = await server.agent();
});
afterAll(() => server.stop());

async function run(...args: readonly string[]) {
  const [out, err] = [new PassThrough(), new PassThrough()];
  const code = await main(['node', 'echelon', '--url', server.url, '--token', server.token, ...args, '--json'], {
    out,
    err,
    interactive: false,
  });
  return { code, said: JSON.parse(String(out.read() ?? err.read())) as Readonly<Record<string, unknown>> };
}

test('dependencies are added and removed; a cycle is refused with its path, over REST and on the command line', async () => {
  const [one, other] = [await server.agent({ parent: root }), await server.agent({ parent: root })];
  expect(await run('task', 'block', one.taskId, '--on', other.taskId)).toMatchObject({ code: 0, said: { depends_on: [other.taskId] } });
  const cycle = await run('task', 'block', other.taskId, '--on', one.taskId);
  expect(cycle).toMatchObject({ code: 1, said: { code: 'DEPENDENCY_CYCLE' } });
  for (const id of [one.taskId, other.taskId]) expect(cycle.said['error']).toContain(id);
  const refused: unknown = await server.client.tasks.addDependency(other.taskId, one.taskId).catch((error: unknown) => error);
  expect(refused).toBeInstanceOf(ApiError);
  expect(refused).toMatchObject({ code: 'DEPENDENCY_CYCLE', problem: { status: 422 } });
  expect(await run('task', 'unblock', one.taskId, '--on', other.taskId)).toMatchObject({
    code: 0,
    said: { depends_on: [], blocked: false },
  });
});

test('a second session is started once for a key, and becomes primary when asked', async () => {
  const spawn = ['task', 'spawn', root.taskId, 'Help.', '--primary', '--key', 'k'];
  const [first, again] = [await run(...spawn), await run(...spawn)];
  expect(first).toMatchObject({ code: 0, said: { is_primary: true, task_id: root.taskId } });
  expect(again.said['id']).toBe(first.said['id']);
  expect((await server.client.tasks.listSessions(root.taskId)).items).toHaveLength(2);
});

test('a task is detached, attached elsewhere, archived and taken back', async () => {
  const child = await server.agent({ parent: root });
  const uncle = await server.client.tasks.create({
    workspace_id: (await server.client.tasks.get(root.taskId)).workspace_id,
    prompt: 'Lead.',
  });
  expect(await run('task', 'detach', child.taskId)).toMatchObject({ code: 0, said: { parent_id: null } });
  expect(await run('task', 'attach', child.taskId, uncle.id)).toMatchObject({ code: 0, said: { parent_id: uncle.id } });
  expect(await server.client.tasks.reparent(child.taskId, root.taskId)).toMatchObject({ parent_id: root.taskId });
  expect(await run('task', 'archive', child.taskId)).toMatchObject({ code: 0, said: { already_archived: false } });
  expect(await run('task', 'archive', child.taskId)).toMatchObject({ code: 0, said: { already_archived: true } });
  expect(await run('task', 'unarchive', child.taskId)).toMatchObject({ code: 0, said: { archived_at: null } });
});
