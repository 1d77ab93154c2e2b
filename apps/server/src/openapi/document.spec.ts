import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { ERRORS } from '@echelon/contracts';
import { type RunningServer, startServer } from '../../../../test/support/running-server.js';

/** Written anew with WRITE_GOLDEN=1. */
const GOLDEN = path.resolve(import.meta.dirname, '../../../../docs/api/openapi.json');

interface Operation {
  readonly operationId: string;
  readonly summary?: string;
  readonly tags?: readonly string[];
  readonly parameters?: readonly { readonly name: string; readonly in: string; readonly schema?: object }[];
  readonly requestBody?: { readonly required: boolean };
  readonly responses: Readonly<Record<string, { readonly content?: object }>>;
}
interface Document {
  readonly openapi: string;
  readonly info: { readonly title: string };
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
  readonly components: { readonly schemas: Readonly<Record<string, object>>; readonly securitySchemes: object };
}

let server: RunningServer;
let document: Document;
beforeAll(async () => {
  server = await startServer();
  document = (await (await fetch(`${server.url}/api/v1/openapi.json`)).json()) as Document;
});
afterAll(() => server.stop());

const operations = () => Object.values(document.paths).flatMap((methods) => Object.values(methods));

describe('the OpenAPI document', () => {
  test('is OpenAPI 3.1 with both ways to authenticate', () => {
    expect(document.openapi).toBe('3.1.0');
    expect(Object.keys(document.components.securitySchemes)).toEqual(['bearer', 'cookie']);
  });

  test('describes every operation: its own id, a summary, a tag, a typed success and the problem', () => {
    const ids = operations().map(({ operationId }) => operationId);
    expect(new Set(ids).size).toBe(ids.length);
    for (const { operationId, summary, tags, responses } of operations()) {
      expect({ operationId, described: Boolean(summary && tags?.length) }).toEqual({ operationId, described: true });
      const [success] = Object.entries(responses).filter(([status]) => status.startsWith('2'));
      expect({ operationId, typed: success?.[1].content !== undefined }).toEqual({ operationId, typed: true });
      expect(responses['default']?.content).toHaveProperty(['application/problem+json', 'schema', '$ref'], '#/components/schemas/Problem');
    }
  });

  test('names every parameter and says what it may be', () => {
    const nameless = operations().filter(({ parameters = [] }) =>
      parameters.some(({ name, schema = {} }) => !name || Object.keys(schema).length === 0),
    );
    expect(nameless.map(({ operationId }) => operationId)).toEqual([]);
  });

  test('documents every parameter of a path and only references that exist', () => {
    for (const [route, methods] of Object.entries(document.paths)) {
      for (const { parameters = [] } of Object.values(methods)) {
        const named = parameters.filter((parameter) => parameter.in === 'path').map(({ name }) => name);
        expect(named.toSorted()).toEqual([...route.matchAll(/\{(\w+)\}/g)].map(([, name]) => name!).toSorted());
      }
    }
    const references = new Set([...JSON.stringify(document).matchAll(/"\$ref":"([^"]+)"/g)].map(([, reference]) => reference!));
    for (const reference of references) {
      const name = reference.replace('#/components/schemas/', '');
      expect(document.components.schemas).toHaveProperty([name]);
    }
  });

  test('its routes are all that the server has below /api/v1', async () => {
    for (const route of Object.keys(document.paths)) expect(route).toMatch(/^\/api\/v1\//);
    const unauthenticated = await Promise.all(
      Object.entries(document.paths).flatMap(([route, methods]) =>
        Object.keys(methods).map(async (method) => {
          const url = server.url + route.replaceAll(/\{\w+\}/g, '0198e0a0-0000-7000-8000-000000000000');
          return (await fetch(url, { method: method.toUpperCase() })).status;
        }),
      ),
    );
    expect(new Set(unauthenticated)).toEqual(new Set([401]));
  });

  test('says of every body whether it may be left out', async () => {
    const headers = { authorization: `Bearer ${server.token}` };
    for (const [route, methods] of Object.entries(document.paths)) {
      for (const [method, { operationId, requestBody }] of Object.entries(methods)) {
        if (!requestBody) continue;
        const url = server.url + route.replaceAll(/\{\w+\}/g, '0198e0a0-0000-7000-8000-000000000000');
        const { status } = await fetch(url, { method: method.toUpperCase(), headers });
        expect({ operationId, required: requestBody.required }).toEqual({ operationId, required: status === 400 });
      }
    }
  });

  test('is the document that docs/api holds', () => {
    const text = `${JSON.stringify(document, null, 2)}\n`;
    if (process.env['WRITE_GOLDEN']) {
      mkdirSync(path.dirname(GOLDEN), { recursive: true });
      writeFileSync(GOLDEN, text);
    }
    expect(readFileSync(GOLDEN, 'utf8')).toBe(text);
  });
});

describe('the reference page', () => {
  test('is served whole from here: every script, style and icon that it names', async () => {
    const page = await (await fetch(`${server.url}/api/v1/reference`)).text();
    const names = [...page.matchAll(/(?:src|href)="([^"]+)"/g)].map(([, name]) => name!);
    expect(names.length).toBeGreaterThan(3);
    for (const name of names) {
      expect(name).not.toMatch(/^https?:/);
      expect((await fetch(new URL(name, `${server.url}/api/v1/reference`))).status).toBe(200);
    }
  });
});

test('every error code has a status of its class and one sentence each for people and for models', () => {
  for (const [code, { status, title, advice }] of Object.entries(ERRORS)) {
    expect({ code, status }).toEqual({ code, status: expect.any(Number) });
    expect(status).toBeGreaterThanOrEqual(400);
    expect(title.endsWith('.') && advice.endsWith('.')).toBe(true);
  }
});
