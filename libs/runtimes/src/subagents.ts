/**
 * The subagents of a worker's turn: they run in its process, under its lease and signals, each in a thread of its own (agent-loop.md §7).
 *
 * S1  Their tools and prompt come from the turn's contract without what ends turns or asks (D9), and nothing else decides them.
 * S2  Nobody is there to ask: what would need an approval is denied with a reason, and no subagent parks (P12).
 */
import { createToolRegistry, type LoopHooks, type LoopLimits, type ModelTarget, type Spending } from '@echelon/agent-loop';
import { createSubagentHost, SUBAGENT_TOOL, type SubagentHost } from '@echelon/agent-session';
import { type Contract, withoutTurnEnding } from '@echelon/domain';
import { type ClaimedTurn, TurnArtifacts, type TurnJournal } from '@echelon/orchestration';
import type { Database } from '@echelon/persistence';
import type { CatalogueTool, ToolCatalogue, ToolContext } from '@echelon/tools';
import { buildSubagentPrompt } from './system-prompt.js';
import type { TurnContract } from './turn-contract.js';

export interface SubagentGround {
  readonly claimed: ClaimedTurn;
  readonly contract: TurnContract;
  readonly database: Database;
  readonly catalogue: ToolCatalogue;
  readonly models: readonly ModelTarget[];
  /** Of the agent's own calls. */
  readonly context: ToolContext;
  readonly hooks: LoopHooks<ToolContext>;
  /** Shared with the agent and all its subagents. */
  readonly spending: Spending;
  /** Of a subagent that starts now. */
  readonly limits: () => LoopLimits;
  /** Levels of subagents below the agent. */
  readonly depth: number;
}

/** What the agent's calls of `run_subagent` run on; `null` where it may start none. */
export function hostSubagents(ground: SubagentGround, journal: TurnJournal): SubagentHost<ToolContext> | null {
  const { claimed, contract, database, catalogue, models, context, hooks, spending, limits, depth } = ground;
  const reduced = withoutTurnEnding(contract.contract);
  const system = buildSubagentPrompt({ contract: reduced, task: claimed.task, profilePrompt: contract.profile.system_prompt });
  return createSubagentHost<ToolContext, TurnJournal>(
    journal,
    async (call, { thread, nest }) => {
      const own = await thread.openThread(call);
      const subagents = nest(own);
      return {
        models,
        system,
        tools: createToolRegistry(offeredTools(catalogue, reduced, subagents !== null)),
        context: { ...context, ...threadOf(own), subagents, recordProcess: (callId, process) => own.recordProcess(callId, process) },
        turn: `t${claimed.turn.number}`,
        promptId: claimed.turn.id,
        journal: own,
        artifacts: new TurnArtifacts(database, claimed, own.threadId),
        limits: limits(),
        spending,
        hooks,
        personPresent: false,
        close: (unrecorded) => own.close(unrecorded),
      };
    },
    depth,
  );
}

function threadOf({ threadId }: TurnJournal): Pick<ToolContext, 'threadId'> {
  return threadId === null ? {} : { threadId };
}

/** The tools of a contract, without `run_subagent` for an agent that may start no subagent. */
export function offeredTools(catalogue: ToolCatalogue, contract: Contract, mayDelegate: boolean): readonly CatalogueTool[] {
  const tools = catalogue.toolsFor(contract);
  return mayDelegate ? tools : tools.filter(({ name }) => name !== SUBAGENT_TOOL);
}
