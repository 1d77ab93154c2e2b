import { z } from 'zod';

/** A schema as JSON Schema 2020-12: what REST documents and what MCP tools show. */
export function toJsonSchema(schema: z.ZodType, io: 'input' | 'output'): z.core.JSONSchema.BaseSchema {
  return z.toJSONSchema(schema, { io, target: 'draft-2020-12', unrepresentable: 'any', override: simplify });
}

/** Only strict objects are closed, for answers may gain fields; a format says enough without its pattern. */
function simplify({ zodSchema: { _zod }, jsonSchema }: Parameters<NonNullable<z.core.ToJSONSchemaParams['override']>>[0]): void {
  if (_zod.def.type === 'object' && !_zod.def.catchall) delete jsonSchema.additionalProperties;
  if (jsonSchema.format !== undefined) delete jsonSchema.pattern;
}
