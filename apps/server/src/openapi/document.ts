/** The OpenAPI document: made from the controllers and the very schemas that they validate with. */
import { DocumentBuilder, type OpenAPIObject, type StandardSchemaConversionResult, SwaggerModule } from '@nestjs/swagger';
import type { INestApplication } from '@nestjs/common';
import { Problem } from '@echelon/contracts';
import type { z } from 'zod';
import { SIGN_IN_COOKIE } from '../http/sign-in-cookie.js';
import { toJsonSchema } from './json-schema.js';

const DESCRIPTION = [
  'Hierarchies of autonomous coding agents: tasks, their sessions, questions and events.',
  'Lists are `{ items, next_cursor }`; times are RFC 3339, UTC; unknown fields and parameters are refused.',
  'Every error is `application/problem+json` with a stable `code`. This document and its reference page need no token.',
].join('\n\n');

type RequestBody = NonNullable<NonNullable<OpenAPIObject['paths'][string]['post']>['requestBody']>;

/** Creates the document of an application; call it before the application is initialised. */
export function createDocument(app: INestApplication): OpenAPIObject {
  const config = new DocumentBuilder()
    .setOpenAPIVersion('3.1.0')
    .setTitle('Echelon')
    .setDescription(DESCRIPTION)
    .setVersion('1')
    .addBearerAuth({ type: 'http', scheme: 'bearer', description: 'An operator’s token, or an agent’s session token.' }, 'bearer')
    .addCookieAuth(SIGN_IN_COOKIE, { type: 'apiKey', in: 'cookie', description: 'Set by the sign-in link.' }, 'cookie')
    .addSecurityRequirements('bearer')
    .addSecurityRequirements('cookie')
    .build();
  const document = SwaggerModule.createDocument(app, config, {
    operationIdFactory: (_controller, method) => method,
    standardSchemaConverter: convert,
  });
  return withProblems(document);
}

/** A schema with what it refers to, as components of the document. */
function convert(schema: unknown, { schemaType }: { readonly schemaType: 'input' | 'output' }): StandardSchemaConversionResult {
  const { $schema: _dialect, $defs: components = {}, ...root } = toJsonSchema(schema as z.ZodType, schemaType);
  return { schema: root, components };
}

function withProblems(document: OpenAPIObject): OpenAPIObject {
  const { components } = convert(Problem, { schemaType: 'output' });
  const schemas = { ...document.components?.schemas, ...components };
  const schema = { $ref: '#/components/schemas/Problem' };
  const failure = { description: 'Refused, or failed.', content: { 'application/problem+json': { schema } } };
  for (const path of Object.values(document.paths)) {
    for (const operation of [path.get, path.post, path.put, path.patch, path.delete]) {
      if (!operation) continue;
      operation.responses = { ...operation.responses, default: failure };
      if (operation.requestBody) operation.requestBody = withNeed(operation.requestBody);
    }
  }
  return { ...document, components: { ...document.components, schemas: sorted(schemas) } };
}

/** A body whose schema has a default may be left out. */
function withNeed(body: RequestBody): RequestBody {
  if ('$ref' in body) return body;
  const optional = Object.values(body.content).every(({ schema }) => schema && 'default' in schema);
  return { ...body, required: !optional };
}

function sorted<T>(record: Readonly<Record<string, T>>): Record<string, T> {
  return Object.fromEntries(Object.entries(record).toSorted(([a], [b]) => (a < b ? -1 : 1)));
}
