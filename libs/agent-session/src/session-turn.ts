/** What a turn of a session runs on: its own tools and policies, its surface's, and what its subagents share with it. */
import {
  type ArtifactStore,
  type BatchPolicies,
  type EventSink,
  type LoopLimits,
  type ModelMessage,
  Spending,
  type StopPolicy,
} from '@echelon/agent-loop';
import type { PermissionMode, PermissionPolicy } from '@echelon/domain';
import { createWorkspaceTools } from '@echelon/workspace-tools';
import { createUserHooks, type HookFailure } from './hooks/user-hooks.js';
import { limitsOfRun, usedBefore } from './session-limits.js';
import type { SessionLog } from './session-log.js';
import { type Approve, createSessionPermissions } from './session-permissions.js';
import type { SessionSettings } from './session-settings.js';
import type { SharedTurn } from './session-subagents.js';
import type { SessionContext, SessionTool } from './session-tool.js';
import { SUBAGENT_TOOL } from './subagent/subagent-host.js';
import { createSubagentLimits } from './subagent/subagent-limits.js';
import { createTodoPolicy, TODOS_TOOL, updateTodosTool } from './todo-list.js';

/** The names of what every session offers its model. */
export const SESSION_TOOLS: readonly string[] = [
  ...createWorkspaceTools<SessionContext>().map(({ name }) => name),
  TODOS_TOOL,
  SUBAGENT_TOOL,
];

/** What a surface brings to one turn. */
export interface TurnSurface {
  readonly signal: AbortSignal;
  /** Before anything else: the history that this turn will append to. */
  readonly onBegin?: (history: readonly ModelMessage[]) => void;
  readonly onEvent?: EventSink;
  /** Absent: nobody is there to approve anything. */
  readonly approve?: Approve;
  /** Told of a hook that broke. */
  readonly onHookFailure?: (failure: HookFailure) => void;
  readonly limits?: LoopLimits;
  readonly policies?: Pick<BatchPolicies<SessionContext>, 'select' | 'beforeToolLaunch' | 'onResults'>;
  /** Tools of this surface alone. */
  readonly tools?: readonly SessionTool[];
  /** Asked in order at a stop point, before the list of steps. */
  readonly stopPolicies?: readonly StopPolicy[];
  /** Keeps a prompt going while its list of steps is unfinished. */
  readonly keepsToTodos?: boolean;
}

export interface TurnFacts {
  readonly log: SessionLog;
  readonly folder: string;
  readonly promptId: string;
  readonly settings: SessionSettings;
  readonly surface: TurnSurface;
}

export function shareTurn({ log, folder, promptId, settings, surface }: TurnFacts): SharedTurn {
  const { signal, approve, limits = {}, onHookFailure = ignore } = surface;
  const { tokens, cost, elapsedMs } = usedBefore(log.state, settings);
  const spending = new Spending(tokens, cost);
  return {
    models: settings.models,
    folder,
    promptId,
    tools: createWorkspaceTools<SessionContext>({
      onCommandStarted: ({ callId, context, process }) => context.recordProcess(callId, process),
    }),
    context: { workspace: { root: folder }, recordProcess: (callId, process) => log.note({ type: 'process', call_id: callId, process }) },
    artifacts: artifactsOf(log),
    spending,
    subagentSpending: tellSpending(spending, (use) => log.note({ type: 'subagent_use', ...use })),
    permissions: permissionsOf({ log, folder, settings, surface }),
    personPresent: approve !== undefined,
    hooks: createUserHooks(settings.hooks ?? {}, { folder, sessionId: log.id, turnId: promptId, signal, onFailure: onHookFailure }),
    limits: limitsOfRun(limits, log.state, settings),
    subagentLimits: createSubagentLimits(limits, elapsedMs),
  };
}

/** The same sum for the loops of subagents, whose part of it is told besides. */
function tellSpending(
  spending: Spending,
  tell: (use: { readonly tokens: number; readonly cost: number }) => void,
): SharedTurn['subagentSpending'] {
  return {
    get tokens() {
      return spending.tokens;
    },
    get cost() {
      return spending.cost;
    },
    add: (tokens, cost) => {
      spending.add(tokens, cost);
      if (tokens > 0 || cost > 0) tell({ tokens, cost });
    },
  };
}

export function todosTool(log: SessionLog): SessionTool {
  return updateTodosTool<SessionContext>((todos) => log.note({ type: 'todos', todos }));
}

/** In order: the surface's own, then the list of steps. */
export function stopPoliciesOf(
  log: SessionLog,
  settings: SessionSettings,
  surface: Pick<TurnSurface, 'stopPolicies' | 'keepsToTodos'>,
): readonly StopPolicy[] {
  const todos = createTodoPolicy(() => ({ todos: log.state.todos, plans: modeOf(log, settings) === 'plan' }));
  return [...(surface.stopPolicies ?? []), ...(surface.keepsToTodos ? [todos] : [])];
}

export function modeOf(log: SessionLog, settings: SessionSettings): PermissionMode {
  return log.state.mode ?? settings.mode;
}

export function policyOf(log: SessionLog, settings: SessionSettings): () => PermissionPolicy {
  return () => ({ mode: modeOf(log, settings), rules: settings.rules });
}

type PermissionSources = Pick<TurnFacts, 'log' | 'folder' | 'settings' | 'surface'>;

function permissionsOf({ log, folder, settings, surface }: PermissionSources): SharedTurn['permissions'] {
  return createSessionPermissions<SessionContext>({
    folder,
    policy: policyOf(log, settings),
    isGranted: (grant) => log.state.grants.has(grant),
    keepGrant: (grant) => log.note({ type: 'grant', grant }),
    approve: surface.approve,
  });
}

/** How a model may refer to the full text of a cut result. */
export function nameArtifact(sessionId: string, callId: string): string {
  return `artifact ${callId} of session ${sessionId}`;
}

function artifactsOf(log: SessionLog): ArtifactStore {
  return {
    store: ({ callId, text }) => {
      log.storeArtifact(callId, text);
      return Promise.resolve(nameArtifact(log.id, callId));
    },
  };
}

function ignore(): void {
  // A surface that shows no failures of hooks.
}
