/** How a value breaks its schema, told by path and rule; the value itself is never repeated. */
import type { z } from 'zod';

export interface Violation {
  readonly path: string;
  readonly rule: string;
}

const MAX_VIOLATIONS = 20;
const MAX_PATH = 200;

/** The violations of a failed parse, at most 20; `root` names what the paths start from. */
export function toViolations(issues: readonly z.core.$ZodIssue[], root = ''): readonly Violation[] {
  return issues.flatMap((issue) => violationsOf(issue, root)).slice(0, MAX_VIOLATIONS);
}

function violationsOf(issue: z.core.$ZodIssue, root: string): readonly Violation[] {
  const path = [...(root ? [root] : []), ...issue.path.map(String)];
  if (issue.code === 'unrecognized_keys') return issue.keys.map((key) => ({ path: joined([...path, key]), rule: 'unknown field' }));
  return [{ path: joined(path), rule: issue.message }];
}

function joined(path: readonly string[]): string {
  const text = path.join('.');
  return text.length > MAX_PATH ? `${text.slice(0, MAX_PATH)}…` : text;
}
