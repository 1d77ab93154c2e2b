/** Asks the person at the editor whether a call may run. */
import type { ApprovalAnswer } from '@echelon/agent-loop';
import type { ApprovalRequest } from '@echelon/agent-session';
import {
  type AgentContext,
  methods,
  type PermissionOption,
  RequestError,
  type RequestPermissionOutcome,
} from '@agentclientprotocol/sdk/unstable';
import { viewCall, viewChange } from './call-view.js';

export interface PermissionQuestion {
  readonly client: AgentContext;
  readonly sessionId: string;
  readonly folder: string;
  readonly request: ApprovalRequest;
  /** Aborting it withdraws the question. */
  readonly signal: AbortSignal;
}

/** `cancelled`: the editor gave the whole prompt up. */
export type PermissionAnswer = Extract<ApprovalAnswer, { decision: 'allow' | 'deny' }> | { readonly decision: 'cancelled' };

export const DECLINED = 'The person at the editor declined this call.';

/** An editor that cannot ask is a denial with its reason, and no decision of a person. */
export async function requestPermission({ client, sessionId, folder, request, signal }: PermissionQuestion): Promise<PermissionAnswer> {
  const { callId, tool, input, grant } = request;
  const view = viewCall(tool, input, folder);
  try {
    const { outcome } = await client.request(
      methods.client.session.requestPermission,
      { sessionId, toolCall: { toolCallId: callId, status: 'pending', ...view, content: viewChange(view) }, options: optionsFor(grant) },
      { cancellationSignal: signal, stopWaitingOnCancel: true },
    );
    return toAnswer(outcome);
  } catch (error) {
    if (signal.aborted) return { decision: 'cancelled' };
    if (error instanceof RequestError) return { decision: 'deny', reason: `The editor could not ask a person: ${error.message}` };
    throw error;
  }
}

/** Nothing remembers a rejection, so there is no "always" for it. */
function optionsFor(grant: string): PermissionOption[] {
  return [
    { optionId: 'allow_once', kind: 'allow_once', name: 'Allow' },
    { optionId: 'allow_always', kind: 'allow_always', name: `Always allow in this session: ${grant}` },
    { optionId: 'reject_once', kind: 'reject_once', name: 'Reject' },
  ];
}

function toAnswer(outcome: RequestPermissionOutcome): PermissionAnswer {
  if (outcome.outcome === 'cancelled') return { decision: 'cancelled' };
  if (outcome.optionId === 'allow_once') return { decision: 'allow', always: false };
  if (outcome.optionId === 'allow_always') return { decision: 'allow', always: true };
  return { decision: 'deny', reason: DECLINED };
}
