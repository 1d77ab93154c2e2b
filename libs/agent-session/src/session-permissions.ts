/** The permissions of a session of this machine: its policy decides, and what that leaves open is asked of whoever is there. */
import path from 'node:path';
import type { ApprovalAnswer, Permissions, PlannedCall } from '@echelon/agent-loop';
import { decidePermission, type PermissionFacts, type PermissionPolicy } from '@echelon/domain';
import { findRealName, isReadOnlyCommand, splitCommand } from '@echelon/workspace-tools';

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
  readonly folder: string;
  readonly policy: () => PermissionPolicy;
  readonly isGranted: (grant: string) => boolean;
  /** Keeps what a person allowed for the rest of the session. */
  readonly keepGrant: (grant: string) => void;
  /** Absent: nobody is there, and what would be asked is denied. */
  readonly approve?: Approve | undefined;
}

/** These look at all that is below their path. */
const LOOKS_BELOW: ReadonlySet<string> = new Set(['list_files', 'search_files']);
/** What is written there, such as a hook or a filter, git runs later. */
const OF_GIT = /(^|\/)\.git(\/|$)/i;

export function createSessionPermissions<Context>(options: SessionPermissionsOptions): Permissions<Context> {
  return {
    check: async (planned) => {
      const facts = await readFacts(options.folder, planned);
      const decided = decidePermission(options.policy(), facts);
      if (decided.decision !== 'ask') return decided;
      const grant = grantOf(planned, facts);
      if (options.isGranted(grant)) return { decision: 'allow' };
      if (options.approve === undefined) return { decision: 'deny', reason: 'it needs the approval of a person, and none is there' };
      return { decision: 'ask', grant, needsInteraction: false };
    },
    ask: async (planned, signal) => {
      if (options.approve === undefined) return { decision: 'deny', reason: 'nobody is there to approve it' };
      const request = toRequest(planned, await readFacts(options.folder, planned));
      const answer = await options.approve(request, signal);
      if (answer.decision === 'allow' && answer.always) options.keepGrant(request.grant);
      return answer;
    },
  };
}

async function readFacts<Context>(folder: string, { tool, input }: PlannedCall<Context>): Promise<PermissionFacts> {
  const { command = null, path: given = null } = input as { readonly command?: string; readonly path?: string };
  const name = given === null ? null : path.relative(folder, path.resolve(folder, given)) || '.';
  const realPath = given === null ? null : await findRealName(folder, given);
  return {
    tool: tool.name,
    effect: effectOf(tool.effect, command, [name ?? '', realPath ?? '']),
    command,
    commands: command === null ? null : splitCommand(command),
    path: name,
    realPath,
    looksBelow: LOOKS_BELOW.has(tool.name),
  };
}

function effectOf(effect: PermissionFacts['effect'], command: string | null, names: readonly string[]): PermissionFacts['effect'] {
  if (effect === 'write' && names.some((name) => OF_GIT.test(name))) return 'execute';
  return effect === 'execute' && command !== null && isReadOnlyCommand(command) ? 'read' : effect;
}

/** A command is granted by its very text, a file that a command may run by its name, every other tool as a whole. */
function grantOf<Context>({ tool }: PlannedCall<Context>, { effect, command, path: name }: PermissionFacts): string {
  const one = command ?? (effect === tool.effect ? null : name);
  return one === null ? tool.name : `${tool.name}: ${one}`;
}

function toRequest<Context>(planned: PlannedCall<Context>, facts: PermissionFacts): ApprovalRequest {
  const { call, tool, input } = planned;
  return {
    callId: call.callId,
    tool: tool.name,
    title: tool.title,
    effect: facts.effect,
    input: input as Readonly<Record<string, unknown>>,
    grant: grantOf(planned, facts),
  };
}
