/** The runtime `loop`: runs a claimed turn on the one agent loop, with the durable journal, in this process. */
import { mkdir } from 'node:fs/promises';
import path from 'node:path';
import {
  createToolRegistry,
  type LoopBudgets,
  type LoopHooks,
  type LoopLimits,
  type ModelClient,
  type ModelTarget,
  runLoop,
  Spending,
  type ToolRegistry,
} from '@echelon/agent-loop';
import { type CommandSlot, createSubagentLimits, createUserHooks, type HookFailure, type UserHooksOptions } from '@echelon/agent-session';
import type { HooksConfig } from '@echelon/contracts';
import type { Contract } from '@echelon/domain';
import type { EventBus } from '@echelon/messaging';
import {
  type AgentRuntime,
  type ClaimedTurn,
  loadStartingPoint,
  type Transactions,
  TurnArtifacts,
  TurnJournal,
  type TurnReport,
  type TurnSignals,
} from '@echelon/orchestration';
import { type Database, hideUnsentPrompts, listUnsettledProcesses, type ProfileRow } from '@echelon/persistence';
import { ARGUMENT_LIMITS, type CatalogueTool, QUESTION_TOOLS, type ToolCatalogue, type ToolContext } from '@echelon/tools';
import { publishLive } from './live-events.js';
import { hostSubagents, offeredTools } from './subagents.js';
import { deriveTurnContract, type TurnContract } from './turn-contract.js';

export interface LoopRuntimeOptions {
  readonly database: Database;
  readonly transactions: Transactions;
  readonly bus: EventBus;
  readonly catalogue: ToolCatalogue;
  /** The client of a provider; one that is not set up answers every request with what is missing. */
  readonly clientOf: (provider: string) => ModelClient;
  /** Folder that holds the task folders. */
  readonly workspaceRoot: string;
  /** Ends what a command of an interrupted turn may have left, as its call's row describes it; `false` where it is out of reach (K21). */
  readonly endCommand: (process: object) => Promise<boolean>;
  /** What a tool may still use once the process hands over; then it is interrupted and its outcome unknown (K23). */
  readonly handOverMs: number;
  /** Levels of subagents below an agent. */
  readonly subagentDepth: number;
  /** Commands of hooks take the slots that other commands take (K24). */
  readonly commandSlot: CommandSlot;
  /** A hook of the turn's profile failed; its turn is named. */
  readonly onHookFailure: (failure: HookFailure & Pick<UserHooksOptions, 'sessionId' | 'turnId'>) => void;
}

export class LoopRuntime implements AgentRuntime {
  constructor(private readonly options: LoopRuntimeOptions) {}

  async run(claimed: ClaimedTurn, signals: TurnSignals): Promise<TurnReport> {
    const { database, transactions, bus, catalogue } = this.options;
    const [[contract, start, processes], context] = await Promise.all([
      database.together((tx) =>
        Promise.all([
          deriveTurnContract(tx, claimed, (of) => createToolRegistry(this.#offered(of)).specifications),
          loadStartingPoint(tx, claimed),
          listUnsettledProcesses(tx, claimed.turn.id),
        ]),
      ),
      this.#context(claimed),
    ]);
    const unreachable = await this.#endCommands(processes);
    const journal = new TurnJournal(transactions, claimed, contract.keep);
    const toolSignal = AbortSignal.any([signals.stop, signals.lost, abortedLater(signals.handOver, this.options.handOverMs)]);
    const shared = {
      models: this.#targets(contract),
      hooks: this.#hooks(claimed, contract, toolSignal),
      spending: new Spending((start.counters?.tokens ?? 0) + start.subagentTokens, start.counters?.cost ?? 0),
    };
    const limits = limitsOf(contract.profile);
    const subagentLimits = createSubagentLimits(limits, start.counters?.elapsedMs ?? 0);
    const depth = this.options.subagentDepth;
    const subagents = hostSubagents({ ...shared, claimed, contract, database, catalogue, context, limits: subagentLimits, depth }, journal);
    const result = await runLoop<ToolContext>({
      ...shared,
      start: { ...start, ...(start.known ? { known: { ...start.known, unreachable } } : {}) },
      system: contract.systemPrompt,
      tools: this.#tools(contract),
      context: { ...context, subagents, recordProcess: (callId, process) => journal.recordProcess(callId, process) },
      turn: `t${claimed.turn.number}`,
      promptId: claimed.turn.id,
      signal: AbortSignal.any([signals.stop, signals.lost]),
      toolSignal,
      handOver: signals.handOver,
      journal,
      artifacts: new TurnArtifacts(database, claimed),
      onEvent: publishLive(bus, claimed),
      limits,
    });
    const record: TurnReport['record'] = async (unit) => {
      await journal.record(unit, result.unrecorded);
      if (result.stop.reason === 'prompt_blocked') hideUnsentPrompts(unit, claimed.turn.id);
    };
    return { stop: result.stop, record };
  }

  /** The calls whose command is out of reach. */
  async #endCommands(processes: Awaited<ReturnType<typeof listUnsettledProcesses>>): Promise<ReadonlySet<string>> {
    const unreachable = new Set<string>();
    for (const { call_id, process } of processes) if (!(await this.options.endCommand(process))) unreachable.add(call_id);
    return unreachable;
  }

  #offered(contract: Contract): readonly CatalogueTool[] {
    return offeredTools(this.options.catalogue, contract, this.options.subagentDepth > 0);
  }

  #tools({ contract, specifications }: TurnContract): ToolRegistry<ToolContext> {
    const { catalogue } = this.options;
    const offered = createToolRegistry(this.#offered(contract));
    const find = (name: string) => offered.find(name) ?? (QUESTION_TOOLS.has(name) ? catalogue.find(name) : null);
    return { ...offered, specifications, find };
  }

  /** They run as this process, outside of any sandbox: only operators write profiles. */
  #hooks({ task, session, turn }: ClaimedTurn, { profile }: TurnContract, signal: AbortSignal): LoopHooks<ToolContext> {
    const { commandSlot, onHookFailure } = this.options;
    const folder = this.#folderOf(task);
    const ids = { sessionId: session.id, turnId: turn.id };
    const onFailure = (failure: HookFailure): void => onHookFailure({ ...failure, ...ids });
    return createUserHooks(profile.hooks as HooksConfig, { folder, signal, ...ids, taskId: task.id, commandSlot, onFailure });
  }

  #targets({ provider, models, profile }: TurnContract): readonly ModelTarget[] {
    const client = this.options.clientOf(provider);
    const { max_output_tokens: maxOutputTokens, context_window: contextWindow } = profile;
    const limits = { ...(maxOutputTokens ? { maxOutputTokens } : {}), ...(contextWindow ? { contextWindow } : {}) };
    return models.map((model) => ({ client, model, ...limits }));
  }

  #folderOf({ folder }: ClaimedTurn['task']): string {
    return path.join(this.options.workspaceRoot, folder);
  }

  async #context({ task, session, turn }: ClaimedTurn): Promise<ToolContext> {
    const root = this.#folderOf(task);
    await mkdir(root, { recursive: true });
    const actor = {
      kind: 'agent',
      workspaceId: task.workspace_id,
      taskId: task.id,
      sessionId: session.id,
      turnId: turn.id,
      callId: null,
    } as const;
    return { actor, workspace: { root }, surface: 'loop' };
  }
}

/** Aborts so long after the given signal. */
function abortedLater(signal: AbortSignal, milliseconds: number): AbortSignal {
  const later = new AbortController();
  const begin = () => setTimeout(() => later.abort(), milliseconds).unref();
  if (signal.aborted) begin();
  else signal.addEventListener('abort', begin, { once: true });
  return later.signal;
}

function limitsOf({ budgets }: ProfileRow): LoopLimits {
  return { budgets: budgetsOf(budgets), arguments: ARGUMENT_LIMITS };
}

function budgetsOf(budgets: ProfileRow['budgets']): LoopBudgets {
  return {
    ...(budgets.max_rounds ? { rounds: budgets.max_rounds } : {}),
    ...(budgets.max_tool_launches ? { launches: budgets.max_tool_launches } : {}),
    ...(budgets.max_wall_seconds ? { wallTimeMs: budgets.max_wall_seconds * 1_000 } : {}),
    ...(budgets.max_tokens ? { tokens: budgets.max_tokens } : {}),
  };
}
