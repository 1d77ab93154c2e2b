/** The subagents of a session: everything of the turn that calls them, but a history, a prompt and rounds of their own. */
import {
  type ArtifactStore,
  createToolRegistry,
  type LoopHooks,
  type LoopLimits,
  type ModelTarget,
  type Permissions,
  type LoopInput,
  type Spending,
} from '@echelon/agent-loop';
import type { SessionContext, SessionTool } from './session-tool.js';
import { createSubagentTool } from './subagent/run-subagent.tool.js';
import { createSubagentHost, type SubagentHost, type SubagentRun } from './subagent/subagent-host.js';
import { SUBAGENT_ROLE } from './subagent/subagent-prompt.js';

/** What a turn and its subagents have in common. */
export interface SharedTurn {
  readonly models: readonly ModelTarget[];
  readonly folder: string;
  readonly promptId: string;
  readonly tools: readonly SessionTool[];
  readonly context: SessionContext;
  readonly artifacts: ArtifactStore;
  readonly spending: Spending;
  /** What subagents add to it outlives this process. */
  readonly subagentSpending: NonNullable<LoopInput<SessionContext>['spending']>;
  readonly permissions: Permissions<SessionContext>;
  readonly personPresent: boolean;
  readonly hooks: LoopHooks<SessionContext>;
  readonly limits: LoopLimits;
  /** Of a subagent that starts now. */
  readonly subagentLimits: () => LoopLimits;
}

export function subagentTool(shared: SharedTurn): SessionTool {
  return toolOf(
    createSubagentHost<SessionContext, null>(null, ({ callId }, level) => Promise.resolve(openRun(shared, callId, level.nest(null)))),
  );
}

function toolOf(host: SubagentHost<SessionContext> | null): SessionTool {
  return createSubagentTool<SessionContext>(() => host);
}

function openRun(shared: SharedTurn, callId: string, below: SubagentHost<SessionContext> | null): SubagentRun<SessionContext> {
  const { models, folder, promptId, tools, context, artifacts, subagentSpending, permissions, personPresent, hooks, subagentLimits } =
    shared;
  return {
    models,
    system: `${SUBAGENT_ROLE}\n\nThe folder is ${folder}. Paths of the file tools are relative to it.`,
    tools: createToolRegistry(below === null ? tools : [...tools, toolOf(below)]),
    context: { ...context, recordProcess: (id, process) => context.recordProcess(idBelow(callId, id), process) },
    turn: `s-${callId}`,
    promptId,
    artifacts: { store: (artifact) => artifacts.store({ ...artifact, callId: idBelow(callId, artifact.callId) }) },
    spending: subagentSpending,
    permissions,
    personPresent,
    hooks,
    limits: subagentLimits(),
  };
}

/** Call ids are unique in one history only: what is kept by them gets the call in front that the subagent runs in. */
function idBelow(outer: string, inner: string): string {
  return `${outer}/${inner}`;
}
