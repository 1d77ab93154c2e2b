/** What an agent over ACP may do when it asks first (lead-and-turns.md §4): our policy decides, or nobody can. */
import type { RequestPermissionRequest, RequestPermissionResponse } from '@agentclientprotocol/sdk/unstable';
import { decidePermission, type PermissionPolicy } from '@echelon/domain';
import { EFFECTS } from './transcript.js';

/** Reads are allowed; whatever else an agent asks for is a person's decision. */
const POLICY: PermissionPolicy = { mode: 'ask', rules: [] };
const NOBODY = 'nobody can be asked for it: an operator’s approval is not available for agents over ACP yet';

export interface PermissionAnswer {
  readonly response: RequestPermissionResponse;
  /** Why it was rejected; `null` where it was allowed. */
  readonly rejected: string | null;
}

/** Answers at once: allows once or rejects once, and never more than what was asked for. Without such an option the call is cancelled. */
export function answerPermission({ toolCall, options }: RequestPermissionRequest): PermissionAnswer {
  const effect = EFFECTS[toolCall.kind ?? 'other'];
  const facts = { tool: toolCall.name ?? toolCall.title ?? 'tool', effect, command: null, commands: null, path: null };
  const decided = decidePermission(POLICY, facts);
  const allow = decided.decision === 'allow' ? options.find(({ kind }) => kind === 'allow_once') : undefined;
  if (allow) return { response: { outcome: { outcome: 'selected', optionId: allow.optionId } }, rejected: null };
  const reason = decided.decision === 'deny' ? decided.reason : NOBODY;
  const reject = options.find(({ kind }) => kind === 'reject_once');
  const outcome = reject ? ({ outcome: 'selected', optionId: reject.optionId } as const) : ({ outcome: 'cancelled' } as const);
  return { response: { outcome, _meta: { 'echelon/reason': reason } }, rejected: reason };
}
