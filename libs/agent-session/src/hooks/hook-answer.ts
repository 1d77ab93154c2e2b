/** What a hook may answer, by event (docs/hooks.md): read strictly, so that a misspelt word is a failure and no silent yes. */
import { wordIssue } from '@echelon/agent-loop';
import type { HookEvent } from '@echelon/contracts';
import { canonicalText } from '@echelon/domain';
import { z } from 'zod';

export interface HookAnswer {
  /** Why what was to come must not; `null`: it may. */
  readonly block: string | null;
  /** What the tool gets instead; `before_tool` only. */
  readonly input?: Readonly<Record<string, unknown>> | undefined;
  /** What the model reads instead of the result; `after_tool` only. */
  readonly result?: string | undefined;
  /** What the model reads beside it; `after_tool` and `after_batch`. */
  readonly additional_context?: string | undefined;
}

/** Nothing to say: what was to come may. */
export const NO_OBJECTION: HookAnswer = { block: null };

export type ReadAnswer = { readonly answer: HookAnswer } | { readonly wrong: string };

const Text = z.string().overwrite(canonicalText);
const decision = { decision: z.enum(['allow', 'block']).optional(), reason: Text.optional() };

const ANSWERS = {
  prompt_submit: z.strictObject(decision),
  before_tool: z.strictObject({ ...decision, input: z.record(z.string(), z.unknown()).optional() }),
  after_tool: z.strictObject({ ...decision, result: Text.optional(), additional_context: Text.optional() }),
  after_batch: z.strictObject({ additional_context: Text.optional() }),
  stop: z.strictObject(decision),
} satisfies Record<HookEvent, z.ZodType<Answer>>;

interface Answer extends Omit<HookAnswer, 'block'> {
  readonly decision?: 'allow' | 'block' | undefined;
  readonly reason?: string | undefined;
}

/** Reads what a hook printed or responded with; nothing at all is no objection. */
export function readAnswer(event: HookEvent, text: string): ReadAnswer {
  if (text.trim() === '') return { answer: NO_OBJECTION };
  const json = parseJson(text);
  if (json === undefined) return { wrong: 'its answer is not JSON' };
  const schema: z.ZodType<Answer> = ANSWERS[event];
  const parsed = schema.safeParse(json, { error: wordIssue });
  if (parsed.success) return judge(parsed.data);
  const [issue] = parsed.error.issues;
  return { wrong: `its answer is not as documented: ${describe(issue)}` };
}

function judge({ decision: said, reason, ...rest }: Answer): ReadAnswer {
  if (said !== 'block') return reason === undefined ? { answer: { block: null, ...rest } } : wrong('reason goes with the decision "block"');
  if (Object.keys(rest).length > 0) return wrong(`${Object.keys(rest).join(', ')} does not go with the decision "block"`);
  return reason?.trim() ? { answer: { block: reason } } : wrong('the decision "block" needs a reason');
}

function wrong(rule: string): ReadAnswer {
  return { wrong: `its answer is not as documented: ${rule}` };
}

function describe(issue: z.core.$ZodIssue | undefined): string {
  if (issue === undefined) return 'see docs/hooks.md';
  if (issue.code === 'unrecognized_keys') return `${issue.keys.join(', ')} is unknown at this event`;
  return issue.path.length === 0 ? `it ${issue.message}` : `${issue.path.join('.')} ${issue.message}`;
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}
