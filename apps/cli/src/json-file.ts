/** JSON that a command takes from a file: whatever is wrong with it is wrong usage, in one sentence. */
import { readFile } from 'node:fs/promises';
import type { z } from 'zod';
import { usage } from './arguments.js';

/** What the file holds; `what` names it, in the plural, such as `steps`. */
export async function readJson(path: string, what: string): Promise<unknown> {
  try {
    return JSON.parse(await readFile(path, 'utf8')) as unknown;
  } catch (error) {
    throw usage(`The ${what} cannot be read from ${path}: ${error instanceof Error ? error.message : String(error)}.`);
  }
}

/** What was given, where it is as the schema says; else the first thing that is wrong with it. */
export function checkJson<T>(given: unknown, what: string, schema: z.ZodType<T>): T {
  const checked = schema.safeParse(given);
  if (checked.success) return checked.data;
  const [first] = checked.error.issues;
  throw usage(`The ${what} are not well formed: ${first ? `${[what, ...first.path].join('.')}: ${first.message}` : 'see --help'}.`);
}
