/** The reference: the loop as its room exports it, with nothing around it that a surface would bring. */
import {
  createToolRegistry,
  type LoopInput,
  type LoopResult,
  type ModelMessage,
  type Permissions,
  type PlannedCall,
  runLoop,
  volatileJournal,
} from '@echelon/agent-loop';
import { createStructuredOutput, createUserHooks } from '@echelon/agent-session';
import { decidePermission } from '@echelon/domain';
import { createModelClient } from '@echelon/model-clients';
import { createWorkspaceTools, isReadOnlyCommand } from '@echelon/workspace-tools';
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { fallbackOf } from '../parity-model.js';
import type { Run, Scenario, Surface, Told } from '../scenario.js';

interface Context {
  readonly workspace: { readonly root: string };
}

export function createLoopSurface(modelUrl: string): Surface {
  return {
    name: 'loop',
    stopsAs: (stop) => JSON.stringify(stop),
    run: (run) => new Reference(modelUrl, run).play(),
    close: () => Promise.resolve(),
  };
}

class Reference {
  private readonly history: ModelMessage[] = [];
  private readonly stops: string[] = [];
  private readonly texts: string[] = [];
  private said: readonly ModelMessage[] = [];
  private counters: LoopResult['counters'] | undefined;
  private turns = 0;

  constructor(
    private readonly modelUrl: string,
    private readonly run: Run,
  ) {}

  async play(): Promise<Told> {
    const { scenario } = this.run;
    for (const prompt of scenario.prompts ?? ['Go.'])
      await this.turn({ opening: { parts: [{ type: 'text', text: prompt }], sendType: 'user' } });
    for (let left = scenario.retries ?? 0; left > 0; left--) await this.turn({ sendType: 'retry' });
    return { stops: this.stops, texts: this.texts };
  }

  private async turn(start: Partial<LoopInput<Context>['start']>): Promise<void> {
    const result = this.run.scenario.kill ? await this.dieAndGoOn(start) : await this.loop(start, this.listen());
    this.counters = result.counters;
    this.stops.push(JSON.stringify(result.stop));
    this.texts.push(result.lastResponse?.text ?? '');
  }

  /** A run that is left alone, and another one that goes on from its history. */
  private async dieAndGoOn(start: Partial<LoopInput<Context>['start']>): Promise<LoopResult> {
    const dead = new AbortController();
    void this.run.due(this.run.scenario.kill!).then(() => dead.abort());
    const { counters } = await this.loop(start, dead.signal);
    this.counters = counters;
    return this.loop({}, new AbortController().signal);
  }

  /** Cancels and says what the scenario wants, when it is due. */
  private listen(): AbortSignal {
    const { scenario, folder, due } = this.run;
    const cancelled = new AbortController();
    if (scenario.cancel) void due(scenario.cancel).then(() => cancelled.abort());
    const { input } = scenario;
    if (input)
      void due(input).then(() => {
        this.said = [{ role: 'user', parts: [{ type: 'text', text: input.text }] }];
        writeFileSync(path.join(folder, 'said'), '');
      });
    return cancelled.signal;
  }

  private loop(start: Partial<LoopInput<Context>['start']>, signal: AbortSignal): Promise<LoopResult> {
    const { scenario, folder, model } = this.run;
    const counters = this.counters && { ...this.counters, stopHookBlocks: 0 };
    const structured = scenario.resultSchema && createStructuredOutput<Context>(scenario.resultSchema);
    const hooks = createUserHooks<Context>(scenario.hooks ?? {}, { folder, sessionId: 's', turnId: 'p', signal, onFailure: ignore });
    return runLoop<Context>({
      start: { ...start, history: this.history, ...(counters === undefined ? {} : { counters }) },
      models: this.targets(),
      system: 'You are a reference.',
      tools: createToolRegistry([...createWorkspaceTools<Context>(), ...(structured ? [structured.tool] : [])]),
      context: { workspace: { root: folder } },
      turn: `t${++this.turns}`,
      promptId: model,
      signal,
      journal: volatileJournal(({ sendType }) => (sendType === 'tool_result' ? this.takeSaid() : [])),
      hooks,
      policies: { ...structured?.policies, permissions: permissionsOf(scenario) },
      limits: {
        ...(scenario.turnCap === undefined ? {} : { turnCap: scenario.turnCap }),
        budgets: {
          ...(scenario.launches === undefined ? {} : { launches: scenario.launches }),
          ...(scenario.tokens === undefined ? {} : { tokens: scenario.tokens }),
        },
      },
    });
  }

  private takeSaid(): readonly ModelMessage[] {
    const { said } = this;
    this.said = [];
    return said;
  }

  private targets(): LoopInput<Context>['models'] {
    const { scenario, model } = this.run;
    const client = createModelClient({ dialect: 'chat_completions', baseUrl: this.modelUrl });
    const window = scenario.contextWindow === undefined ? {} : { contextWindow: scenario.contextWindow };
    return [model, ...(scenario.fallback ? [fallbackOf(model)] : [])].map((name) => ({ client, model: name, ...window }));
  }
}

function permissionsOf({ mode = 'full_access', answers = {} }: Scenario): Permissions<Context> {
  return {
    check: (planned) => {
      const decided = decidePermission({ mode, rules: [] }, factsOf(planned));
      return decided.decision === 'ask' ? { decision: 'ask', grant: planned.tool.name, needsInteraction: false } : decided;
    },
    ask: ({ tool }) => {
      const answer = answers[tool.name] ?? 'allow';
      return Promise.resolve(answer === 'deny' ? { decision: 'deny', reason: DENIED } : { decision: 'allow', always: answer === 'always' });
    },
  };
}

/** What every surface says of a call that a person declined. */
export const DENIED = 'a person declined it';

function factsOf({ tool, input }: PlannedCall<Context>) {
  const { command = null } = input as { readonly command?: string };
  const effect = command !== null && isReadOnlyCommand(command) ? ('read' as const) : tool.effect;
  return { tool: tool.name, effect, command, commands: null, path: null };
}

function ignore(): void {
  // The scenario sees what a broken hook does.
}
