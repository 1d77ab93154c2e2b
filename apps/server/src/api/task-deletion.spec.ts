import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { connectModern } from '../../../../test/support/mcp-clients.js';
import { type RunningServer, startServer } from '../../../../test/support/running-server.js';

let server: RunningServer;
beforeAll(async () => {
  server = await startServer();
});
afterAll(() => server.stop());

/** Status and code of a request with the operator's token, or another's. */
async function ask(method: string, path: string, { token = server.token, body }: { token?: string; body?: object } = {}) {
  const headers = { authorization: `Bearer ${token}`, ...(body ? { 'content-type': 'application/json' } : {}) };
  const response = await fetch(`${server.url}/api/v1${path}`, { method, headers, ...(body ? { body: JSON.stringify(body) } : {}) });
  const answer = (await response.json()) as { code?: string };
  return { status: response.status, code: answer.code };
}

describe('a deleted task', () => {
  test('is not found at any door, at once', async () => {
    const agent = await server.agent();
    const child = await server.agent({ parent: agent });
    const other = await server.agent();
    const sent = await server.client.tasks.sendMessage(agent.taskId, { prompt: 'Later.' });
    const mcp = await connectModern(server.url, agent.token, 'auto');
    const asked = (await mcp.call('ask_user_question_kandev', { questions: [{ prompt: 'Which?' }] })).structured?.['question_id'];
    expect(await server.client.tasks.delete(agent.taskId)).toEqual({
      task_id: agent.taskId,
      deleted: 1,
      detached: [child.taskId],
      already_deleted: false,
    });
    const [task, session] = [`/tasks/${agent.taskId}`, `/sessions/${agent.sessionId}`];
    const doors: readonly (readonly [string, string, object?])[] = [
      ['GET', task],
      ['PATCH', task, { title: 'No' }],
      ['GET', `${task}/related`],
      ['GET', `${task}/sessions`],
      ['GET', `${task}/messages`],
      ['GET', `${task}/plan`],
      ['PUT', `${task}/plan`, { content: 'No.' }],
      ['POST', `${task}/stop`, {}],
      ['POST', `${task}/archive`],
      ['POST', `${task}/unarchive`],
      ['POST', `${task}/sessions`, {}],
      ['POST', `${task}/messages`, { prompt: 'No.' }],
      ['PUT', `${task}/parent`, { parent_id: null }],
      ['PUT', `${task}/dependencies/${other.taskId}`],
      ['PUT', `/tasks/${other.taskId}/dependencies/${agent.taskId}`],
      ['POST', '/tasks', { prompt: 'No.', parent_id: agent.taskId }],
      ['GET', session],
      ['GET', `${session}/messages`],
      ['GET', `${session}/turns`],
      ['GET', `${session}/queue`],
      ['PUT', `${session}/auto-run`, { auto_run: true }],
      ['DELETE', `${session}/queue/${sent.delivery_id}`],
      ['GET', `/deliveries/${sent.delivery_id}`],
      ['GET', `/questions/${String(asked)}`],
      ['POST', `/questions/${String(asked)}/answer`, { rejected: true }],
      ['POST', `/questions/${String(asked)}/cancel`],
      ['POST', '/tokens', { kind: 'session', label: 'no', task_id: agent.taskId }],
    ];
    for (const [method, path, body] of doors)
      expect({ method, path, ...(await ask(method, path, body ? { body } : {})) }).toEqual({
        method,
        path,
        status: 404,
        code: 'NOT_FOUND',
      });
    expect(await ask('GET', task, { token: agent.token })).toMatchObject({ status: 401 });
    expect((await server.client.tasks.list({ limit: 200, include_archived: true })).items.map(({ id }) => id)).not.toContain(agent.taskId);
    expect((await server.client.questions.list({ kind: 'user' })).items.map(({ id }) => id)).not.toContain(asked);
    expect(await server.client.tasks.get(child.taskId)).toMatchObject({ parent_id: null });
    await mcp.close();
  });

  test('was deleted once, whoever says it again', async () => {
    const { taskId } = await server.agent();
    expect(await server.client.tasks.delete(taskId)).toMatchObject({ deleted: 1 });
    expect(await server.client.tasks.delete(taskId)).toMatchObject({ deleted: 0, already_deleted: true });
    expect(await ask('DELETE', `/tasks/${randomUUID()}`)).toMatchObject({ status: 404 });
    expect(await ask('DELETE', `/tasks/${taskId}?cascade=perhaps`)).toMatchObject({ status: 400, code: 'INVALID_INPUT' });
  });

  test('is its direct parent’s to delete over MCP, with what is below it', async () => {
    const parent = await server.agent();
    const child = await server.agent({ parent });
    await server.agent({ parent: child });
    const mcp = await connectModern(server.url, parent.token, 'auto');
    const call = async (input: object) => (await mcp.call('delete_task_kandev', input)).structured;
    expect(await call({ task_id: child.taskId })).toMatchObject({ error: 'CONFLICT' });
    expect(await call({ task_id: parent.taskId, cascade: true })).toMatchObject({ error: 'NOT_DIRECT_PARENT' });
    expect(await call({ task_id: child.taskId, cascade: true })).toMatchObject({ deleted: 2, already_deleted: false });
    expect(await call({ task_id: child.taskId, cascade: true })).toMatchObject({ deleted: 0, already_deleted: true });
    await mcp.close();
  });
});
