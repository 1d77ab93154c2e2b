import { decideAfterResponse, type AfterResponse } from './after-response.js';
import type { LoopRun } from './loop-run.js';
import type { ModelMessage, ModelRequest } from './model-port.js';
import { runModelRound, type ModelRoundInput, type ModelTarget, type SendPlan } from './model-round.js';
import type { AbandonedAttempt, ModelResponse } from './response.js';
import { RETRY_POLICY } from './retry-policy.js';
import type { LoopStop } from './stop-reason.js';

const TOOL_FORMAT_NOTE: ModelMessage = {
  role: 'user',
  parts: [
    {
      type: 'text',
      text:
        'Host note: your last response held a malformed tool call and was discarded. ' +
        'Call tools only through the tool interface, with valid JSON arguments.',
    },
  ],
};

export type Requested =
  { readonly response: ModelResponse; readonly after: Exclude<AfterResponse, { next: 'again' }> } | { readonly stop: LoopStop };

/** What one round asks for beyond the history. */
interface RoundPlan {
  /** Stands at the end of this round's requests only; the system prompt stays as it is (W8, W10). */
  readonly note: ModelMessage | null;
  /** Earlier responses of the round that do not count. */
  readonly abandoned: readonly AbandonedAttempt[];
}

/** A model round, repeated where its response asks for it: an escalated output limit, a note on the tool format. */
export async function requestResponse<Context>(run: LoopRun<Context>): Promise<Requested> {
  let plan: RoundPlan = { note: null, abandoned: [] };
  for (;;) {
    const round = await runModelRound(toRoundInput(run, plan));
    if ('stop' in round) {
      if (round.partial !== null) run.keepPartial(withAbandoned(round.partial, plan));
      return { stop: round.stop };
    }
    if (round.target > 0) run.count({ target: run.used.target + round.target });
    const response = withAbandoned(round.response, plan);
    const after = decide(run, response);
    if (after.next !== 'again') return { response, after };
    run.emit({ type: 'attempt_abandoned' });
    run.emit({ type: 'retry', cause: after.cause, delayMs: 0, failure: null });
    plan = planAgain(run, response, after.cause, plan);
  }
}

function decide<Context>(run: LoopRun<Context>, response: ModelResponse): AfterResponse {
  const { toolFormatRetries, outputContinuations, outputEscalations, target } = run.used;
  const model = run.input.models[target];
  const ceiling = model?.outputCeiling ?? 0;
  const canEscalate = outputEscalations === 0 && ceiling > (model?.maxOutputTokens ?? 0);
  return decideAfterResponse(response, { leadPending: run.leadPending, toolFormatRetries, outputContinuations, canEscalate });
}

function planAgain<Context>(
  run: LoopRun<Context>,
  response: ModelResponse,
  cause: 'output_limit' | 'tool_format',
  plan: RoundPlan,
): RoundPlan {
  const { model, usage } = response;
  const abandoned = [...response.abandoned, { model, cause, failure: null, usage }];
  if (cause === 'output_limit') {
    run.count({ outputEscalations: 1 });
    return { ...plan, abandoned };
  }
  run.count({ toolFormatRetries: run.used.toolFormatRetries + 1 });
  return { ...plan, abandoned, note: TOOL_FORMAT_NOTE };
}

function withAbandoned(response: ModelResponse, { abandoned }: RoundPlan): ModelResponse {
  return abandoned.length === 0 ? response : { ...response, abandoned: [...abandoned, ...response.abandoned] };
}

function toRoundInput<Context>(run: LoopRun<Context>, plan: RoundPlan): ModelRoundInput {
  const { input, clock, cut, emit, ledger, used } = run;
  return {
    targets: run.targets,
    prepare: (send) => prepare(run, plan, send),
    ledger,
    turn: { prefix: input.turn, round: used.rounds + 1 },
    clock,
    cut,
    emit,
    retry: input.retry ?? RETRY_POLICY,
    retryEmpty: used.rounds === 0,
    preparations: input.preparations ?? false,
  };
}

/** Barrier 1 and the request it allows: results first, then the boundary input that became part of it. */
async function prepare<Context>(
  run: LoopRun<Context>,
  plan: RoundPlan,
  { target, attempt }: SendPlan,
): Promise<{ readonly request: ModelRequest } | { readonly stop: LoopStop }> {
  const { input, sendType, counters } = run;
  const prepared = await run.barriers.prepare({
    promptId: input.promptId,
    sendType,
    model: target.model,
    round: counters.rounds + 1,
    attempt: attempt + plan.abandoned.length,
    counters,
  });
  if ('stop' in prepared) return prepared;
  run.takeBoundaryInput(prepared.input);
  return { request: toRequest(run, plan, target) };
}

function toRequest<Context>({ input, history, used }: LoopRun<Context>, { note }: RoundPlan, target: ModelTarget): ModelRequest {
  const limit = used.outputEscalations > 0 ? (target.outputCeiling ?? target.maxOutputTokens) : target.maxOutputTokens;
  return {
    model: target.model,
    system: input.system,
    messages: note === null ? history : [...history, note],
    tools: input.tools.specifications,
    ...(limit === undefined ? {} : { maxOutputTokens: limit }),
  };
}
