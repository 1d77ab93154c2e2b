/** For whom a tool of the catalogue runs, and how its call is known. */
import type { ToolExecution } from '@echelon/agent-loop';
import type { SubagentHost } from '@echelon/agent-session';
import { refuse, type Refusal } from '@echelon/domain';
import type { Actor, AgentActor } from '@echelon/orchestration';

/** The loop can park a call whose result comes later; over MCP every call returns at once. */
export type ToolSurface = 'loop' | 'mcp';

export interface ToolContext {
  readonly actor: Actor;
  readonly surface: ToolSurface;
  /** Set for the calls of a subagent: the thread that they belong to. Call ids are unique in a thread only. */
  readonly threadId?: string;
  /** What the caller's own subagents run on; absent over MCP, and where no more may be started. */
  readonly subagents?: SubagentHost<ToolContext> | null;
  /** The task's folder; absent over MCP, where nobody has it. */
  readonly workspace?: { readonly root: string };
  /** Stores the process of a command before it begins; rejects when nothing may run any more (K21). */
  readonly recordProcess?: (callId: string, process: object) => Promise<void>;
}

/** The context of an agent's call in its task's folder: what workspace tools run with. */
export interface AgentToolContext extends ToolContext {
  readonly actor: AgentActor;
  readonly workspace: { readonly root: string };
  readonly recordProcess: (callId: string, process: object) => Promise<void>;
}

/** Who calls, with the id of this call where the surface gives it one that a retry would carry again (K16). */
export function callerOf({ context: { actor, surface, threadId }, callId }: ToolExecution<ToolContext>): Actor {
  if (actor.kind !== 'agent' || surface !== 'loop') return actor;
  return { ...actor, callId: threadId === undefined ? callId : `${threadId}:${callId}` };
}

/** The calling agent; a token that belongs to no session is refused. */
export function agentOf(execution: ToolExecution<ToolContext>): AgentActor | Refusal {
  const actor = callerOf(execution);
  return actor.kind === 'agent' ? actor : refuse('FORBIDDEN', { needs: 'a session token' });
}
