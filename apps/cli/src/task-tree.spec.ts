import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { type RunningServer, startServer } from '../../../test/support/running-server.js';
import { isAtRest, readTree } from './task-tree.js';

let server: RunningServer;
beforeAll(async () => {
  server = await startServer();
});
afterAll(() => server.stop());

async function rests(taskId: string): Promise<boolean> {
  return isAtRest(server.client, await readTree(server.client, taskId));
}

test('a tree rests when nothing in it runs, and no queue holds what a worker is about to begin', async () => {
  const parent = await server.agent();
  const child = await server.agent({ parent });
  const { tasks, sessions } = server.client;
  expect(await rests(parent.taskId)).toBe(false);
  for (const { taskId } of [parent, child]) await tasks.update(taskId, { state: 'review' });
  expect(await rests(parent.taskId)).toBe(false);

  for (const { sessionId } of [parent, child])
    for (const entry of (await sessions.listQueue(sessionId)).items) await sessions.removeQueueEntry(sessionId, entry.id);
  expect(await rests(parent.taskId)).toBe(true);

  await tasks.sendMessage(child.taskId, { prompt: 'Go on.' });
  expect(await rests(parent.taskId)).toBe(false);
  await sessions.setAutoRun(child.sessionId, false);
  expect(await rests(parent.taskId)).toBe(true);
});

test('a tree that moved since it was read does not rest', async () => {
  const parent = await server.agent();
  await server.client.tasks.update(parent.taskId, { state: 'completed' });
  const seen = await readTree(server.client, parent.taskId);
  await server.client.tasks.update(parent.taskId, { title: 'Moved' });
  expect(await isAtRest(server.client, seen)).toBe(false);
});
