/** Checks a call against its tool. An error names tool, path and rule; it never repeats a value, which may be a secret or a file. */
import type { z } from 'zod';
import { exceedsBytes, findExceeded, type ArgumentLimits, type ExceededLimit } from './argument-limits.js';
import { wordIssue } from './issue-wording.js';
import { nearestNames } from './nearest-names.js';
import type { ToolDefinition } from './tool-port.js';

const LISTED_ISSUES = 10;
const NAME_LENGTH = 64;
const UNPRINTABLE = /[^\p{L}\p{M}\p{N}\p{P}\p{S} ]/gu;

type Target = Pick<ToolDefinition, 'name' | 'input'>;

export interface InvalidArguments {
  readonly valid: false;
  readonly text: string;
  /** They are over this limit, and were not looked at further. */
  readonly exceeded?: ExceededLimit;
}

export type Validation = { readonly valid: true; readonly input: unknown } | InvalidArguments;

/** Parses raw JSON text and validates it; blank text stands for no arguments. Without `limits` any size is parsed. */
export function validateArguments(tool: Target, raw: string, limits?: ArgumentLimits): Validation {
  if (limits !== undefined && exceedsBytes(raw, limits)) return overLimit(tool, 'bytes', limits);
  let value: unknown;
  try {
    value = raw.trim() === '' ? {} : JSON.parse(raw);
  } catch {
    return { valid: false, text: `Invalid arguments for ${tool.name}: they are not valid JSON.` };
  }
  return validateInput(tool, value, limits);
}

/** Validates parsed arguments, such as those that a hook rewrote. */
export function validateInput(tool: Target, value: unknown, limits?: ArgumentLimits): Validation {
  const refused = limits === undefined ? null : refuseOverLimit(tool, value, limits);
  if (refused !== null) return refused;
  const parsed = tool.input.safeParse(value, { error: wordIssue });
  if (parsed.success) return { valid: true, input: parsed.data };
  const lines = parsed.error.issues.flatMap((issue) => describeIssue(issue, []));
  const listed = lines.slice(0, LISTED_ISSUES).map((line) => `- ${line}`);
  if (lines.length > LISTED_ISSUES) listed.push(`- and ${lines.length - LISTED_ISSUES} more`);
  return { valid: false, text: [`Invalid arguments for ${tool.name}:`, ...listed].join('\n') };
}

/** The refusal of parsed arguments that are over a limit, or `null`; to be asked before anything walks through them. */
export function refuseOverLimit(tool: Target, value: unknown, limits: ArgumentLimits): InvalidArguments | null {
  const exceeded = findExceeded(value, limits);
  return exceeded === null ? null : overLimit(tool, exceeded, limits);
}

function overLimit({ name }: Target, exceeded: ExceededLimit, limits: ArgumentLimits): InvalidArguments {
  return { valid: false, exceeded, text: `Invalid arguments for ${name}: they may have at most ${limits[exceeded]} ${exceeded}.` };
}

/** The error of a call whose tool does not exist among `offered`. */
export function describeUnknownTool(name: string, offered: Iterable<string>): string {
  const nearest = nearestNames(clip(name), offered);
  const hint = nearest.length === 0 ? 'No tools are available.' : `Nearest names: ${nearest.join(', ')}.`;
  return `Unknown tool ${clip(name)}. ${hint}`;
}

/** Added to the error from the third identical invalid call in a row on. */
export const CHANGE_APPROACH =
  'This same invalid call was made repeatedly. Do not send it again: change the arguments or take another approach.';

function describeIssue(issue: z.core.$ZodIssue, above: readonly PropertyKey[]): string[] {
  const path = [...above, ...issue.path];
  switch (issue.code) {
    case 'unrecognized_keys':
      return issue.keys.map((key) => `${showPath([...path, key])}: unknown argument`);
    case 'invalid_element':
      return issue.issues.flatMap((inner) => describeIssue(inner, path));
    default:
      return [`${showPath(path)}: ${issue.message}`];
  }
}

function showPath(path: readonly PropertyKey[]): string {
  if (path.length === 0) return '(arguments)';
  return path.map((step, at) => (typeof step === 'number' ? `[${step}]` : `${at === 0 ? '' : '.'}${clip(String(step))}`)).join('');
}

/** A name as the caller wrote it, short and without characters that do not print. */
function clip(name: string): string {
  const shown = name.slice(0, NAME_LENGTH).replace(UNPRINTABLE, '\ufffd');
  return name.length <= NAME_LENGTH ? shown : `${shown}…`;
}
