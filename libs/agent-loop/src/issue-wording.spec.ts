import { expect, test } from '@jest/globals';
import { z } from 'zod';
import { wordIssue } from './issue-wording.js';

test.each<[string, z.ZodType, unknown]>([
  ['is missing', z.string(), undefined],
  ['must be text', z.string(), 7],
  ['must be true or false', z.boolean(), 'yes'],
  ['must be a whole number', z.int(), 1.5],
  ['must not be empty', z.string().min(1), ''],
  ['must have at least 3 characters', z.string().min(3), 'ab'],
  ['must have at most 1 item', z.array(z.string()).max(1), ['a', 'b']],
  ['must be at least 1', z.int().min(1), 0],
  ['must be more than 0', z.number().positive(), 0],
  ['must be a full id', z.uuid(), 'nope'],
  ['has a form that is not allowed', z.string().regex(/^a$/), 'b'],
  ['must be one of "a", "b"', z.enum(['a', 'b']), 'c'],
  ['matches none of the allowed forms', z.union([z.string(), z.int()]), true],
  ['its own words', z.string().min(1, 'its own words'), ''],
])('a broken schema is told as: %s', (rule, schema, value) => {
  expect(schema.safeParse(value, { error: wordIssue }).error?.issues.map(({ message }) => message)).toEqual([rule]);
});
