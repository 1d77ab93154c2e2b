/** How outcomes of services become results of tools: the only place where one turns into the other. */
import type { ToolResult } from '@echelon/agent-loop';
import { ERRORS } from '@echelon/contracts';
import { isRefusal, type Refusal } from '@echelon/domain';
import type { Outcome } from '@echelon/orchestration';

/** A value as JSON text for the model, and as data for surfaces. */
export function succeed(value: object): ToolResult {
  return { text: JSON.stringify(value, null, 2), isError: false, structured: { ...value } };
}

/** A refusal by its code: what is wrong, what to do instead, and the facts that the caller may see. */
export function refused({ code, details }: Refusal): ToolResult {
  const { title, advice } = ERRORS[code];
  const facts = Object.keys(details).length > 0 ? `\ndetails: ${JSON.stringify(details)}` : '';
  return { text: `${code}: ${title} ${advice}${facts}`, isError: true, structured: { error: code, title, advice, details } };
}

/** A service's outcome as it is, or as `show` makes it. */
export function toResult<T extends object>(outcome: Outcome<T>, show: (value: T) => object = (value) => value): ToolResult {
  return isRefusal(outcome) ? refused(outcome) : succeed(show(outcome));
}
