import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import type { PlannedCall } from '@echelon/agent-loop';
import { createUserHooks, type HookFailure } from '@echelon/agent-session';
import { HooksConfig } from '@echelon/contracts';

interface Seen {
  readonly url: string | undefined;
  readonly method: string | undefined;
  readonly headers: IncomingMessage['headers'];
  readonly body: string;
}

let server: Server;
let base: string;
const seen: Seen[] = [];
const hung: ServerResponse[] = [];

/** What the server does at each path. */
const PATHS: Readonly<Record<string, (response: ServerResponse) => void>> = {
  '/deny': (response) => response.end('{"decision":"block","reason":"Ask Ann first."}'),
  '/silent': (response) => response.writeHead(204).end(),
  '/rewrite': (response) => response.end('{"input":{"path":"elsewhere"}}'),
  '/moved': (response) => response.writeHead(307, { location: '/deny' }).end(),
  '/error': (response) => response.writeHead(500).end('{"decision":"block","reason":"no"}'),
  '/large': (response) => response.end(`"${'x'.repeat(70_000)}"`),
  '/html': (response) => response.end('<p>Hello</p>'),
  '/slow': (response) => hung.push(response),
  '/cut': (response) => response.writeHead(200, { 'content-length': 10 }).write('{', () => response.destroy()),
};

beforeAll(async () => {
  server = createServer((request, response) => {
    void text(request).then((body) => {
      seen.push({ url: request.url, method: request.method, headers: request.headers, body });
      PATHS[request.url ?? '']?.(response);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  base = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});
afterEach(() => {
  seen.length = 0;
  for (const response of hung.splice(0)) response.destroy();
});
afterAll(() => new Promise((resolve) => server.close(resolve)));

async function ask(hook: object, signal = new AbortController().signal) {
  const failures: HookFailure[] = [];
  const config = HooksConfig.parse({ before_tool: [hook] });
  const about = { folder: '/', sessionId: 's', turnId: 't', signal, onFailure: (failure: HookFailure) => failures.push(failure) };
  const call = { call: { callId: 'c', name: 'write_file' }, input: { path: 'a' } } as PlannedCall<object>;
  const verdict = await createUserHooks<object>(config, about).beforeTool?.(call);
  return { verdict, failures: failures.map(({ message }) => message) };
}

describe('an HTTP hook', () => {
  test('gets the input as the JSON body of a POST, with its headers and the variables that it names', async () => {
    process.env.HOOK_SPEC_TOKEN = 'secret';
    const headers = { authorization: 'Bearer ${HOOK_SPEC_TOKEN}', 'x-other': '${HOME}' };
    expect(await ask({ url: `${base}/deny`, headers, env: ['HOOK_SPEC_TOKEN'] })).toEqual({
      verdict: { deny: 'Not executed: Ask Ann first.' },
      failures: [],
    });
    delete process.env.HOOK_SPEC_TOKEN;
    expect(seen).toMatchObject([
      { method: 'POST', headers: { authorization: 'Bearer secret', 'x-other': '${HOME}', 'content-type': 'application/json' } },
    ]);
    expect(JSON.parse(seen[0]?.body ?? '')).toMatchObject({
      version: 1,
      event: 'before_tool',
      tool_name: 'write_file',
      input: { path: 'a' },
    });
  });

  test('may rewrite an input, and has nothing against a call when it says nothing', async () => {
    expect(await ask({ url: `${base}/rewrite` })).toEqual({ verdict: { input: { path: 'elsewhere' } }, failures: [] });
    expect(await ask({ url: `${base}/silent` })).toEqual({ verdict: null, failures: [] });
  });

  test.each([
    ['/moved', 'it answered with status 307'],
    ['/error', 'it answered with status 500'],
    ['/large', 'it answered with more than 65536 bytes'],
    ['/html', 'its answer is not JSON'],
    ['/cut', 'it could not be reached: other side closed'],
    ['/slow', 'it did not answer within 1 s'],
  ])('at %s fails, which is told and goes on', async (path, failure) => {
    const message = `The before_tool hook "POST ${base}${path}" failed: ${failure}.`;
    expect(await ask({ url: `${base}${path}`, timeout_seconds: 1 })).toEqual({ verdict: null, failures: [message] });
    expect(seen.map(({ url }) => url)).toEqual([path]);
  });

  test('that nobody listens for fails, and blocks where it says so', async () => {
    const hook = { url: 'http://127.0.0.1:1/a?token=x', on_failure: 'block' };
    const message = 'The before_tool hook "POST http://127.0.0.1:1/a" failed: it could not be reached: ';
    const { verdict, failures } = await ask(hook);
    expect(verdict).toEqual({ deny: `Not executed: ${failures[0]}` });
    expect(failures[0]).toContain(message);
  });

  test('is cut off by an abort', async () => {
    const cancel = new AbortController();
    const asked = ask({ url: `${base}/slow`, on_failure: 'block' }, cancel.signal);
    server.once('request', () => cancel.abort());
    expect(await asked).toEqual({ verdict: null, failures: [] });
  });
});
