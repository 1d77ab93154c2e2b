import { z } from 'zod';
import type { ToolSpecification } from './model-port.js';
import type { ToolDefinition } from './tool-port.js';

export interface ToolRegistry<Context> {
  /** What models are told; may be replaced by a stored list, so that a resumed turn sends the same bytes. */
  readonly specifications: readonly ToolSpecification[];
  find(name: string): ToolDefinition<z.ZodType, Context> | null;
  names(): Iterable<string>;
}

/** A JSON Schema costs a hundred times a lookup and never changes. */
const schemas = new WeakMap<z.ZodType, Readonly<Record<string, unknown>>>();

/** Collects tools for a loop, in the order in which models see them. Throws when a name is taken twice. */
export function createToolRegistry<Context>(tools: readonly ToolDefinition<z.ZodType, Context>[]): ToolRegistry<Context> {
  const byName = new Map(tools.map((tool) => [tool.name, tool]));
  if (byName.size !== tools.length) throw new Error('two tools have the same name');
  return {
    specifications: tools.map((tool) => ({ name: tool.name, description: tool.description, parameters: parametersOf(tool.input) })),
    find: (name) => byName.get(name) ?? null,
    names: () => byName.keys(),
  };
}

function parametersOf(input: z.ZodType): Readonly<Record<string, unknown>> {
  const known = schemas.get(input);
  if (known !== undefined) return known;
  const { $schema: _, ...schema } = z.toJSONSchema(input, { io: 'input' });
  schemas.set(input, schema);
  return schema;
}
