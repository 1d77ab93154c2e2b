/** What a value must be like, said of a broken schema: in plain words, from the schema alone, so that no value is repeated. */
import type { z } from 'zod';

const TYPES: Readonly<Record<string, string>> = {
  string: 'text',
  number: 'a number',
  int: 'a whole number',
  boolean: 'true or false',
  array: 'a list',
  object: 'an object',
  record: 'an object',
};
const FORMATS: Readonly<Record<string, string>> = {
  uuid: 'must be a full id',
  url: 'must be an address',
  datetime: 'must be a time like 2026-11-30T09:30:00.000Z',
};
const UNITS: Readonly<Record<string, readonly [one: string, many: string]>> = {
  string: ['character', 'characters'],
  array: ['item', 'items'],
};

/** The error map of every parse of what a model or a client sent; a schema's own message goes before it. */
export const wordIssue: z.core.$ZodErrorMap = (issue) => {
  switch (issue.code) {
    case 'invalid_type':
      return issue.input === undefined ? 'is missing' : `must be ${TYPES[issue.expected] ?? issue.expected}`;
    case 'too_small':
      if (issue.origin === 'string' && issue.minimum === 1) return 'must not be empty';
      return bound(issue.origin, issue.inclusive === false ? 'more than' : 'at least', issue.minimum);
    case 'too_big':
      return bound(issue.origin, issue.inclusive === false ? 'less than' : 'at most', issue.maximum);
    case 'invalid_format':
      return FORMATS[issue.format] ?? 'has a form that is not allowed';
    case 'invalid_value':
      return `must be ${issue.values.length > 1 ? 'one of ' : ''}${issue.values.map((value) => JSON.stringify(value)).join(', ')}`;
    case 'invalid_union':
      return 'matches none of the allowed forms';
    case 'invalid_key':
      return 'this key is not allowed';
    default:
      return undefined;
  }
};

function bound(origin: string, comparison: string, count: number | bigint): string {
  const unit = UNITS[origin];
  return unit ? `must have ${comparison} ${count} ${unit[count === 1 ? 0 : 1]}` : `must be ${comparison} ${count}`;
}
