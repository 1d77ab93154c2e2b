import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { type RunningServer, startServer } from '../../../../test/support/running-server.js';

let server: RunningServer;
beforeAll(async () => {
  server = await startServer();
});
afterAll(() => server.stop());

async function ask(path: string, init: RequestInit = {}) {
  const response = await fetch(server.url + path, { ...init, headers: { authorization: `Bearer ${server.token}`, ...init.headers } });
  const text = await response.text();
  const body = text.startsWith('{') ? (JSON.parse(text) as Record<string, unknown>) : { text };
  return { status: response.status, headers: response.headers, body };
}

const json = { 'content-type': 'application/json' };

describe('problems', () => {
  const post = (body: string, headers: Record<string, string> = json) => ask('/api/v1/tasks', { method: 'POST', headers, body });

  test('an unknown route is a 404 problem that leads to the reference', async () => {
    const answer = await ask('/api/v1/nothing');
    expect(answer).toMatchObject({
      status: 404,
      body: { code: 'ROUTE_NOT_FOUND', type: 'urn:echelon:problem:route_not_found', title: 'There is no such route.' },
    });
    expect(answer.body['detail']).toMatch('/api/v1/reference');
  });

  test('malformed JSON is a 400 problem that repeats nothing of it', async () => {
    const answer = await post('{"prompt": "s3cret');
    expect(answer).toMatchObject({
      status: 400,
      body: { code: 'BODY_MALFORMED', title: 'The body is not a well-formed JSON object.' },
    });
    expect(JSON.stringify(answer.body)).not.toMatch('s3cret');
  });

  test('a method that a route does not take is a 405 problem, and Allow names those that it takes', async () => {
    const answers: readonly [string, string, string][] = [
      ['DELETE', `/api/v1/tasks/${randomUUID()}/messages`, 'GET, HEAD, POST'],
      ['GET', `/api/v1/tasks/${randomUUID()}/stop`, 'POST'],
      ['OPTIONS', '/api/v1/tasks', 'GET, HEAD, POST'],
    ];
    for (const [method, path, allow] of answers) {
      const answer = await ask(path, { method });
      expect(answer).toMatchObject({ status: 405, body: { code: 'METHOD_NOT_ALLOWED', status: 405 } });
      expect(answer.headers.get('allow')).toBe(allow);
    }
  });

  test('a body that is not JSON, or is encoded as nobody reads it, is refused rather than taken for none', async () => {
    const refused = { status: 415, body: { code: 'UNSUPPORTED_MEDIA_TYPE' } };
    expect(await post('prompt=x', { 'content-type': 'application/x-www-form-urlencoded' })).toMatchObject(refused);
    expect(await post('{}', { ...json, 'content-encoding': 'zip' })).toMatchObject(refused);
    expect(await post('{}', { 'content-type': 'application/json; charset=klingon' })).toMatchObject(refused);
  });

  test('a body that is missing, or is no object, is told as that', async () => {
    expect(await ask('/api/v1/tasks', { method: 'POST' })).toMatchObject({ status: 400, body: { errors: [{ path: 'body' }] } });
    expect(await post('7')).toMatchObject({ status: 400, body: { code: 'BODY_MALFORMED' } });
  });

  test('every violation is listed by path and rule, and no value is repeated', async () => {
    const answer = await post(
      JSON.stringify({ prompt: '', autopilot: 's3cret', workspace_id: 's3cret', blocked_by: ['s3cret'], extra: 's3cret' }),
    );
    expect(answer.status).toBe(400);
    expect(answer.body['errors']).toEqual(
      expect.arrayContaining([
        { path: 'workspace_id', rule: 'must be a full id' },
        { path: 'prompt', rule: 'must not be empty' },
        { path: 'autopilot', rule: 'must be true or false' },
        { path: 'blocked_by.0', rule: 'must be a full id' },
        { path: 'extra', rule: 'unknown field' },
      ]),
    );
    expect(JSON.stringify(answer.body)).not.toMatch('s3cret');
  });

  test('an unknown query parameter and a malformed id are named', async () => {
    expect(await ask('/api/v1/tasks?limt=5')).toMatchObject({ status: 400, body: { errors: [{ path: 'limt', rule: 'unknown field' }] } });
    expect(await ask('/api/v1/tasks/nope')).toMatchObject({ status: 400, body: { errors: [{ path: 'id', rule: 'must be a full id' }] } });
    expect(await ask('/api/v1/tasks/%ff')).toMatchObject({ status: 400, body: { errors: [{ path: 'path' }] } });
  });

  test('a body over the limit is a 413 problem, on REST and on MCP', async () => {
    const body = JSON.stringify({ prompt: 'x'.repeat(2 * 1024 * 1024) });
    expect(await post(body)).toMatchObject({ status: 413, body: { code: 'BODY_TOO_LARGE' } });
    expect((await ask('/mcp', { method: 'POST', headers: json, body })).status).toBe(413);
  });

  test('NUL and lone surrogates reach no service [K19]', async () => {
    const workspace = await server.client.workspaces.create({ name: `nul \u0000 ${randomUUID()}` });
    expect(workspace.name).toMatch(/^nul \ufffd /);
    const raw = await ask('/api/v1/workspaces', { method: 'POST', headers: json, body: `{"name":"lone \\ud800 ${randomUUID()}"}` });
    expect(raw.body['name']).toMatch(/^lone \ufffd /);
  });

  test('what nobody expected is logged, and the client sees only the id of the log line', async () => {
    const broken = await startServer();
    try {
      await broken.asOwner('DROP TABLE workspace CASCADE');
      const response = await fetch(`${broken.url}/api/v1/workspaces`, { headers: { authorization: `Bearer ${broken.token}` } });
      const problem = (await response.json()) as { code: string; details: { error_id: string } };
      expect(response.status).toBe(500);
      expect(problem.code).toBe('INTERNAL');
      expect(JSON.stringify(problem)).not.toMatch('workspace');
      expect(broken.errors).toContainEqual(expect.objectContaining({ errorId: problem.details.error_id }));
    } finally {
      await broken.stop();
    }
  });
});
