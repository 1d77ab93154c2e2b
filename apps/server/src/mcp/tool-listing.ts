import type { Tool } from '@modelcontextprotocol/server';
import type { CatalogueTool } from '@echelon/tools';
import type { z } from 'zod';
import { toJsonSchema } from '../openapi/json-schema.js';

const listed = new WeakMap<CatalogueTool, Tool>();

/** A tool as `tools/list` shows it. Clients that defer tools behind a search are asked to load ours at once. */
export function toListedTool(tool: CatalogueTool): Tool {
  const known = listed.get(tool);
  if (known) return known;
  const made: Tool = {
    name: tool.name,
    title: tool.title,
    description: tool.description,
    inputSchema: toObjectSchema(tool.input, 'input'),
    ...(tool.output ? { outputSchema: toObjectSchema(tool.output, 'output') } : {}),
    annotations: {
      title: tool.title,
      readOnlyHint: tool.effect === 'read',
      destructiveHint: false,
      idempotentHint: tool.idempotent,
      openWorldHint: false,
    },
    _meta: { 'anthropic/alwaysLoad': true },
  };
  listed.set(tool, made);
  return made;
}

/** One self-contained object schema: where the schema itself is a named one, its definition stands in its place. */
function toObjectSchema(schema: z.ZodType, io: 'input' | 'output'): Tool['inputSchema'] {
  const { $schema: _dialect, $ref, ...json } = toJsonSchema(schema, io);
  const named = $ref === undefined ? {} : json.$defs?.[$ref.replace('#/$defs/', '')];
  return { ...json, ...named, type: 'object' } as Tool['inputSchema'];
}
