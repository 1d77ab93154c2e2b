/** The permissions of a session of this machine: its policy decides, and what that leaves open is asked of whoever is there. */
import { normalize } from 'node:path';
import type { ApprovalAnswer, Permissions, PlannedCall } from '@echelon/agent-loop';
import { decidePermission, type PermissionFacts, type PermissionPolicy } from '@echelon/domain';
import { isReadOnlyCommand, splitCommand } from '@echelon/workspace-tools';

/** A call that waits for a person. */
export interface ApprovalRequest {
  readonly callId: string;
  readonly tool: string;
  /** Short human title of the tool. */
  readonly title: string;
  readonly effect: PermissionFacts['effect'];
  readonly input: Readonly<Record<string, unknown>>;
  /** What "always allow" covers, in words. */
  readonly grant: string;
}

export type Approve = (request: ApprovalRequest, signal: AbortSignal) => Promise<ApprovalAnswer>;

export interface SessionPermissionsOptions {
  readonly policy: () => PermissionPolicy;
  readonly isGranted: (grant: string) => boolean;
  /** Keeps what a person allowed for the rest of the session. */
  readonly keepGrant: (grant: string) => void;
  /** Absent: nobody is there, and what would be asked is denied. */
  readonly approve?: Approve | undefined;
}

export function createSessionPermissions<Context>(options: SessionPermissionsOptions): Permissions<Context> {
  return {
    check: (planned) => {
      const decided = decidePermission(options.policy(), factsOf(planned));
      if (decided.decision !== 'ask') return decided;
      const grant = grantOf(planned);
      if (options.isGranted(grant)) return { decision: 'allow' };
      if (options.approve === undefined) return { decision: 'deny', reason: 'it needs the approval of a person, and none is there' };
      return { decision: 'ask', grant, needsInteraction: false };
    },
    ask: async (planned, signal) => {
      if (options.approve === undefined) return { decision: 'deny', reason: 'nobody is there to approve it' };
      const answer = await options.approve(toRequest(planned), signal);
      if (answer.decision === 'allow' && answer.always) options.keepGrant(grantOf(planned));
      return answer;
    },
  };
}

function factsOf<Context>({ tool, input }: PlannedCall<Context>): PermissionFacts {
  const { command = null, path = null } = input as { readonly command?: string; readonly path?: string };
  const reads = tool.effect === 'execute' && command !== null && isReadOnlyCommand(command);
  return {
    tool: tool.name,
    effect: reads ? 'read' : tool.effect,
    command,
    commands: command === null ? null : splitCommand(command),
    path: path === null ? null : normalize(path),
  };
}

/** A command is granted by its very text, every other tool as a whole. */
function grantOf<Context>({ tool, input }: PlannedCall<Context>): string {
  const { command } = input as { readonly command?: string };
  return command === undefined ? tool.name : `${tool.name}: ${command}`;
}

function toRequest<Context>(planned: PlannedCall<Context>): ApprovalRequest {
  const { call, tool, input } = planned;
  return {
    callId: call.callId,
    tool: tool.name,
    title: tool.title,
    effect: factsOf(planned).effect,
    input: input as Readonly<Record<string, unknown>>,
    grant: grantOf(planned),
  };
}
