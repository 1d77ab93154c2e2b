import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { ApiError, ConnectionError, createApiClient, type FollowedEvent } from './index.js';

type Handler = (request: IncomingMessage, response: ServerResponse) => void;

/** A server that answers as the spec says, request by request. */
let server: Server;
let baseUrl: string;
let requests: IncomingMessage[];
let answers: Handler[];

beforeEach(async () => {
  requests = [];
  answers = [];
  server = createServer((request, response) => {
    requests.push(request);
    const answer = answers.shift() ?? ((_request, rest) => rest.end());
    answer(request, response);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  baseUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});
afterEach(() => {
  server.closeAllConnections();
  server.close();
});

const client = () => createApiClient({ baseUrl: `${baseUrl}/`, token: 'secret' });

const json =
  (body: object, status = 200, headers: Record<string, string> = {}): Handler =>
  (_request, response) =>
    response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(JSON.stringify(body));

const problem = (code: string, status: number, more: object = {}) => ({ type: 'urn:x', title: 'No.', status, code, ...more });

async function thrown(call: Promise<unknown>): Promise<unknown> {
  return call.then(
    () => null,
    (error: unknown) => error,
  );
}

describe('a call', () => {
  test('carries the token, its query without what is absent, and its idempotency key', async () => {
    answers.push(json({ items: [], next_cursor: null }), json({ id: 'x' }, 201));
    await client().tasks.list({ limit: 5, roots_only: true, cursor: undefined });
    await client().workspaces.create({ name: 'w' }, { idempotencyKey: 'k' });
    expect(requests[0]).toMatchObject({
      method: 'GET',
      url: '/api/v1/tasks?limit=5&roots_only=true',
      headers: { authorization: 'Bearer secret' },
    });
    expect(requests[1]).toMatchObject({ method: 'POST', url: '/api/v1/workspaces', headers: { 'idempotency-key': 'k' } });
  });

  test('encodes ids, so that none can name another route', async () => {
    answers.push(json({}));
    await client().tasks.get('../tokens?x=1');
    expect(requests[0]?.url).toBe('/api/v1/tasks/..%2Ftokens%3Fx%3D1');
  });

  test('throws the problem that the server refused with', async () => {
    answers.push(json(problem('RATE_LIMITED', 429, { detail: 'Wait.', details: { retry_after_seconds: 3 } }), 429, { 'retry-after': '3' }));
    const error = await thrown(client().tasks.get('x'));
    expect(error).toBeInstanceOf(ApiError);
    expect(error).toMatchObject({ code: 'RATE_LIMITED', retryAfterSeconds: 3, problem: { status: 429 } });
    expect((error as Error).message).toBe('RATE_LIMITED: No. Wait. (retry_after_seconds: 3)');
  });

  test('names every violated field in its message', async () => {
    answers.push(json(problem('INVALID_INPUT', 400, { errors: [{ path: 'name', rule: 'Too short' }] }), 400));
    expect(((await thrown(client().workspaces.create({ name: '' }))) as Error).message).toBe('INVALID_INPUT: No. (name: Too short)');
  });

  test('tells an answer that is not ours by its status', async () => {
    answers.push((_request, response) => response.writeHead(502).end('<h1>Bad gateway</h1>'));
    const error = await thrown(client().tasks.get('x'));
    expect(error).toMatchObject({ code: 'INTERNAL', problem: { status: 502, title: expect.stringMatching('HTTP 502') } });
  });

  test('throws ConnectionError where nobody answers', async () => {
    const { port } = server.address() as AddressInfo;
    await new Promise((resolve) => server.close(resolve));
    const error = await thrown(createApiClient({ baseUrl: `http://127.0.0.1:${port}`, token: 't' }).tasks.get('x'));
    expect(error).toBeInstanceOf(ConnectionError);
    expect((error as Error).message).toMatch(String(port));
  });

  test('ends with the reason of its signal', async () => {
    const abort = new AbortController();
    const reason = new Error('enough');
    answers.push(() => abort.abort(reason));
    expect(await thrown(client().tasks.get('x', { signal: abort.signal }))).toBe(reason);
  });
});

describe('following events', () => {
  const durable = (position: string) => ({ position, type: 'task.updated', data: {} });
  const frame = (position: string) => `id: ${position}\nevent: task.updated\ndata: ${JSON.stringify(durable(position))}\n\n`;
  const stream =
    (write: (response: ServerResponse) => void): Handler =>
    (_request, response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      write(response);
    };

  /** Follows until `count` events have come. */
  async function follow(count: number, options: { after?: string } = {}): Promise<readonly FollowedEvent[]> {
    const abort = new AbortController();
    const seen: FollowedEvent[] = [];
    for await (const event of client().events.follow({ ...options, signal: abort.signal, retryDelaysMs: [0] })) {
      seen.push(event);
      if (seen.length === count) abort.abort();
    }
    return seen;
  }

  test('reads events however they are cut into chunks, and leaves comments out', async () => {
    const text = `id: 4\n\n: still here\n\nevent: text-delta\r\ndata: {"text":"grü\u{1f600}ße"}\r\n\r\n${frame('5')}`;
    answers.push(
      stream((response) => {
        for (const byte of Buffer.from(text)) response.write(Buffer.of(byte));
      }),
    );
    expect(await follow(3)).toEqual([
      { kind: 'open', cursor: '4' },
      { kind: 'live', event: { text: 'grü\u{1f600}ße' } },
      { kind: 'durable', event: durable('5') },
    ]);
  });

  test('resumes after a broken connection from the last position that it saw', async () => {
    answers.push(
      stream((response) => response.write(`id: 1\n\n${frame('2')}`, () => response.destroy())),
      json(problem('SHUTTING_DOWN', 503), 503),
      stream((response) => response.write(frame('3'))),
    );
    const seen = await follow(4);
    expect(seen.map((event) => (event.kind === 'durable' ? event.event.position : event.kind))).toEqual(['open', '2', 'open', '3']);
    expect(requests.map(({ headers }) => headers['last-event-id'])).toEqual([undefined, '2', '2']);
  });

  test('begins after a given position, and passes a reset on', async () => {
    answers.push(stream((response) => response.write('id: 9\nevent: reset\ndata: {"cursor":"9"}\n\n')));
    expect(await follow(2, { after: '7' })).toEqual([
      { kind: 'open', cursor: '7' },
      { kind: 'reset', cursor: '9' },
    ]);
    expect(requests[0]?.headers['last-event-id']).toBe('7');
  });

  test('throws when the server refuses for good', async () => {
    answers.push(json(problem('UNAUTHENTICATED', 401), 401));
    expect(await thrown(follow(1))).toMatchObject({ code: 'UNAUTHENTICATED' });
  });
});
