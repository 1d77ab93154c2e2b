import { randomUUID } from 'node:crypto';
import http from 'node:http';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { type RunningServer, startServer } from '../../../test/support/running-server.js';

let server: RunningServer;
beforeAll(async () => {
  server = await startServer();
});
afterAll(() => server.stop());

interface Answer {
  readonly status: number;
  readonly headers: Headers;
  readonly body: Record<string, unknown>;
}

async function ask(path: string, init: RequestInit = {}, token: string | null = server.token): Promise<Answer> {
  const headers = new Headers(init.headers);
  if (token !== null && !headers.has('authorization')) headers.set('authorization', `Bearer ${token}`);
  const response = await fetch(server.url + path, { redirect: 'manual', ...init, headers });
  const text = await response.text();
  return {
    status: response.status,
    headers: response.headers,
    body: text.startsWith('{') ? (JSON.parse(text) as Answer['body']) : { text },
  };
}

/** A request whose Host header is ours to choose. */
function askAs(host: string, path: string): Promise<{ readonly status: number; readonly code?: string }> {
  const { hostname, port } = new URL(server.url);
  return new Promise((resolve, reject) => {
    const request = http.get({ hostname, port, path, headers: { host, authorization: `Bearer ${server.token}` } }, (response) => {
      response.setEncoding('utf8').on('data', (text: string) => {
        const problem = response.headers['content-type']?.startsWith('application/problem+json');
        resolve({ status: response.statusCode ?? 0, ...(problem ? { code: (JSON.parse(text) as { code: string }).code } : {}) });
      });
    });
    request.on('error', reject);
  });
}

const json = { 'content-type': 'application/json' };

describe('authentication', () => {
  test('a request without a token is a 401 problem that names the scheme', async () => {
    const answer = await ask('/api/v1/tasks', {}, null);
    expect(answer.status).toBe(401);
    expect(answer.headers.get('content-type')).toMatch('application/problem+json');
    expect(answer.headers.get('www-authenticate')).toBe('Bearer realm="echelon"');
    expect(answer.body).toMatchObject({ code: 'UNAUTHENTICATED', status: 401 });
  });

  test('an unknown token and a malformed header are refused the same', async () => {
    expect((await ask('/api/v1/tasks', {}, 'ech_op_unknown')).status).toBe(401);
    expect((await ask('/api/v1/tasks', { headers: { authorization: 'Basic YTpi' } })).status).toBe(401);
  });

  test('a revoked token is refused from then on', async () => {
    const { id, secret } = await server.client.tokens.issue({ kind: 'operator', label: 'short' });
    expect((await ask('/api/v1/tasks', {}, secret)).status).toBe(200);
    await server.client.tokens.revoke(id);
    expect((await ask('/api/v1/tasks', {}, secret)).status).toBe(401);
  });

  test('a session token reads its tasks but is refused on operators’ routes', async () => {
    const { token: secret } = await server.agent();
    expect((await ask('/api/v1/tasks', {}, secret)).status).toBe(200);
    for (const path of ['/api/v1/tokens', '/api/v1/events', '/metrics'])
      expect(await ask(path, {}, secret)).toMatchObject({ status: 403, body: { code: 'FORBIDDEN' } });
    const body = JSON.stringify({ name: 'mine' });
    expect(await ask('/api/v1/workspaces', { method: 'POST', headers: json, body }, secret)).toMatchObject({ status: 403 });
  });

  test('the sign-in link becomes a cookie that scripts cannot read and other sites cannot send', async () => {
    const answer = await ask(`/sign-in?token=${server.token}`, {}, null);
    expect(answer.status).toBe(303);
    expect(answer.headers.get('location')).toBe('/');
    expect(answer.headers.get('set-cookie')).toBe(`echelon_token=${server.token}; Path=/; HttpOnly; SameSite=Strict`);
    expect(answer.headers.get('cache-control')).toBe('no-store');
  });

  test('a sign-in link with an unknown or a session’s token is a page that says how to go on', async () => {
    for (const token of ['wrong', (await server.agent()).token]) {
      const answer = await ask(`/sign-in?token=${token}`, {}, null);
      expect(answer.status).toBe(401);
      expect(answer.headers.get('set-cookie')).toBeNull();
      expect(answer.body['text']).toMatch('echelon -- token issue');
    }
  });

  test('the cookie reads, and writes only from a page of this very origin', async () => {
    const cookie = `echelon_token=${server.token}`;
    expect((await ask('/api/v1/tasks', { headers: { cookie } }, null)).status).toBe(200);
    const write = (origin?: string) =>
      ask(
        '/api/v1/workspaces',
        { method: 'POST', headers: { ...json, cookie, ...(origin ? { origin } : {}) }, body: JSON.stringify({ name: randomUUID() }) },
        null,
      );
    expect((await write(server.url)).status).toBe(201);
    expect((await write()).status).toBe(403);
    expect((await write('http://localhost:1')).status).toBe(403);
  });

  test('MCP takes no cookie', async () => {
    const answer = await ask('/mcp', { method: 'POST', headers: { ...json, cookie: `echelon_token=${server.token}` }, body: '{}' }, null);
    expect(answer.status).toBe(401);
  });

  test('health, the reference page and the OpenAPI document need no token', async () => {
    for (const path of ['/', '/healthz', '/readyz', '/api/v1/reference', '/api/v1/openapi.json'])
      expect((await ask(path, {}, null)).status).toBe(200);
  });
});

describe('hosts and origins', () => {
  test('a name that is not ours is refused, probes excepted', async () => {
    const refused = { status: 403, code: 'HOST_NOT_ALLOWED' };
    expect(await askAs('rebound.example:80', '/api/v1/tasks')).toEqual(refused);
    expect(await askAs('rebound.example:80', '/mcp')).toEqual(refused);
    expect(await askAs('localhost:1234', '/api/v1/tasks')).toEqual({ status: 200 });
    expect(await askAs('rebound.example:80', '/healthz')).toEqual({ status: 200 });
  });

  test('a page of another host may not call us, not even MCP', async () => {
    const headers = { origin: 'https://evil.example' };
    expect(await ask('/api/v1/tasks', { headers })).toMatchObject({ status: 403, body: { code: 'ORIGIN_NOT_ALLOWED' } });
    expect((await ask('/mcp', { method: 'POST', headers: { ...headers, ...json }, body: '{}' })).status).toBe(403);
  });

  test('answers forbid framing, sniffing and foreign scripts', async () => {
    const { headers } = await ask('/');
    expect(headers.get('x-content-type-options')).toBe('nosniff');
    expect(headers.get('content-security-policy')).toMatch("default-src 'self'");
    expect(headers.get('content-security-policy')).not.toMatch('upgrade-insecure-requests');
    expect(headers.get('x-powered-by')).toBeNull();
  });
});

describe('limits', () => {
  test('a token over its rate is told how long to wait; another token is not', async () => {
    const limited = await startServer({ requestsPerMinute: 3 });
    try {
      const other = await limited.services.tokens.issue((await limited.services.tokens.authenticate(limited.token))!.actor, {
        kind: 'operator',
        label: 'other',
      });
      const send = (token: string) => fetch(`${limited.url}/api/v1/tasks`, { headers: { authorization: `Bearer ${token}` } });
      for (let n = 0; n < 3; n += 1) expect((await send(limited.token)).status).toBe(200);
      const refused = await send(limited.token);
      expect(refused.status).toBe(429);
      expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0);
      expect(await refused.json()).toMatchObject({ code: 'RATE_LIMITED' });
      expect((await send('secret' in other ? other.secret : '')).status).toBe(200);
    } finally {
      await limited.stop();
    }
  });
});

describe('operations', () => {
  test('readiness follows the health that it is given', async () => {
    const ready = server.health;
    server.health = async () => ({ ready: false, checks: { worker: { ok: false, detail: 'fetched nothing for 40 s' } } });
    expect(await ask('/readyz', {}, null)).toMatchObject({ status: 503, body: { ready: false, checks: { worker: { ok: false } } } });
    server.health = ready;
    expect((await ask('/readyz', {}, null)).status).toBe(200);
  });

  test('metrics carry the product’s names and count requests by route, not by path', async () => {
    const id = randomUUID();
    await ask(`/api/v1/tasks/${id}`);
    const { body } = await ask('/metrics');
    for (const name of [
      'turns_total',
      'queue_wait_seconds',
      'question_open',
      'question_answer_seconds',
      'recovery_seconds',
      'wake_lost_total',
    ])
      expect(body['text']).toMatch(`# TYPE echelon_${name} `);
    expect(body['text']).toMatch('echelon_http_requests_total{method="GET",route="/api/v1/tasks/:id",status="404"}');
    expect(body['text']).not.toMatch(id);
  });

  test('without its database it answers 503 with Retry-After, and serves again when the database is back [O27]', async () => {
    server.line.cut();
    const answer = await ask('/api/v1/tasks');
    server.line.resume();
    expect(answer).toMatchObject({ status: 503, body: { code: 'SERVICE_UNAVAILABLE' } });
    expect(answer.headers.get('retry-after')).toBe('5');
    expect((await ask('/api/v1/tasks')).status).toBe(200);
  });

  test('a closing server finishes the request that it has begun, ends event streams, and listens no more', async () => {
    const own = await startServer();
    const headers = { authorization: `Bearer ${own.token}` };
    const { body } = await fetch(`${own.url}/api/v1/events`, { headers });
    const events = body!.pipeThrough(new TextDecoderStream()).getReader();
    expect((await events.read()).value).toMatch(/^id: \d+\n\n$/);
    const [asked, answer] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    const ready = own.health;
    own.health = () => {
      asked.resolve();
      return answer.promise.then(ready);
    };
    const begun = fetch(`${own.url}/readyz`);
    await asked.promise;
    const closed = own.closeServer();
    await expect(fetch(own.url)).rejects.toThrow();
    answer.resolve();
    expect((await begun).status).toBe(200);
    await closed;
    expect(await events.read()).toMatchObject({ done: true });
    await own.stop();
  });
});
