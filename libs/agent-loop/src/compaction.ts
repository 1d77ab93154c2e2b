/**
 * Compaction: makes the prompt fit the model's window by a summary of its oldest part (agent-loop.md §7).
 *
 * H1  The summary is a model round like any other, without tools: retried, counted in tokens and cost, cut by the same signals.
 * H2  The new history is one barrier. Until it is committed, and when the summary fails, history is as it was.
 * H3  The request is refused only when it cannot fit: then nothing is sent (W9).
 */
import { CallLedger } from './call-ledger.js';
import { planCompaction, compactHistory, type CompactionPlan } from './compaction-plan.js';
import { estimateMessages, roomOf } from './context-window.js';
import type { EventSink } from './loop-events.js';
import type { LoopRun } from './loop-run.js';
import type { ModelMessage } from './model-port.js';
import { runModelRound, type ModelTarget } from './model-round.js';
import type { ModelResponse } from './response.js';
import { RETRY_POLICY } from './retry-policy.js';
import type { LoopStop } from './stop-reason.js';
import { toSummaryMessage, toSummaryRequest } from './summary-request.js';

/** Compactions of a turn that may fail before only an impossible prompt asks for one more. */
const FAILURES = 3;
/** The share of the window that the transcript of a summary request may have; the rest is for the system prompt and the answer. */
const TRANSCRIPT = 0.7;

const TOO_LARGE: LoopStop = { reason: 'error', kind: 'prompt_too_large', message: 'the prompt does not fit the window of the model' };

type Compacted =
  /** `false`: history is as it was. */
  { readonly done: boolean } | { readonly stop: LoopStop };

/** Before a request: compacts a prompt that leaves too little room, or says that it cannot fit. */
export async function fitPrompt<Context>(run: LoopRun<Context>): Promise<LoopStop | null> {
  if (run.prepared) return null;
  const { window, threshold } = roomOf(modelOf(run));
  const tokens = run.size.of(run.history);
  if (tokens <= threshold) return null;
  const must = tokens >= window;
  if (!must && run.used.failedCompactions >= FAILURES) return null;
  const compacted = await compact(run, { tokens, window, must });
  if ('stop' in compacted) return compacted.stop;
  return compacted.done || !must ? null : TOO_LARGE;
}

/** After a provider refused a prompt as too long, so that its window is smaller than was said: compacts for what the prompt had. */
export function compactRefused<Context>(run: LoopRun<Context>): Promise<Compacted> {
  const tokens = run.size.of(run.history);
  return compact(run, { tokens, window: Math.min(tokens, roomOf(modelOf(run)).window), must: true });
}

interface Need {
  /** Of the prompt as it is. */
  readonly tokens: number;
  readonly window: number;
  /** The prompt as it is fits no request. */
  readonly must: boolean;
}

async function compact<Context>(run: LoopRun<Context>, need: Need): Promise<Compacted> {
  const { history, compacted, instructions, size } = run;
  // From here on tokens are what we estimate: the window shrinks or grows by what the provider counts otherwise.
  const scale = (size.overhead + estimateMessages(history)) / need.tokens;
  const window = scale * need.window;
  const plan = planCompaction({ history, compacted, instructions, overhead: size.overhead, window, must: need.must });
  if (plan === null) return { done: false };
  const round = await summarize(run, plan.replaced, window);
  if ('stop' in round) return round;
  const summary = round.response === null ? null : toSummaryMessage(round.response.text);
  if (round.response === null || summary === null || !frees(run, plan, summary, window)) {
    run.count({ failedCompactions: run.used.failedCompactions + 1 });
    return { done: false };
  }
  run.count({ failedCompactions: 0, contextTokens: 0 });
  const { model, usage } = round.response;
  const counters = plan.kept === 0 ? run.counters : run.countersBeforeBatch;
  const stop = await run.barriers.compact({ ...plan, summary, model, usage, counters });
  if (stop !== null) return { stop };
  run.takeCompaction({ ...plan, summary });
  run.emit({ type: 'compacted', usage, tokensBefore: Math.ceil(need.tokens), tokensAfter: Math.ceil(size.of(history) / scale) });
  return { done: true };
}

/** The answer to the summary request, `null` where it is none that a history could rest on; or what ends the run meanwhile. */
async function summarize<Context>(
  run: LoopRun<Context>,
  replaced: readonly ModelMessage[],
  window: number,
): Promise<{ readonly response: ModelResponse | null } | { readonly stop: LoopStop }> {
  const { input, clock, cut, used, barriers } = run;
  const round = await runModelRound({
    targets: run.targets,
    prepare: ({ target: { model, maxOutputTokens } }) => {
      const stop = barriers.checkHandOver();
      const asked = { model, system: input.system, ...(maxOutputTokens === undefined ? {} : { maxOutputTokens }) };
      return Promise.resolve(stop === null ? { request: toSummaryRequest(asked, replaced, TRANSCRIPT * window) } : { stop });
    },
    ledger: new CallLedger(),
    turn: { prefix: `${input.turn}-summary`, round: used.rounds + 1 },
    clock,
    cut,
    emit: onlyRetries(run.emit),
    retry: input.retry ?? RETRY_POLICY,
    retryEmpty: true,
    preparations: false,
  });
  if ('stop' in round) {
    if (round.partial !== null) run.spend(round.partial);
    return round.stop.reason === 'error' ? { response: null } : { stop: round.stop };
  }
  run.spend(round.response);
  run.count({ target: used.target + round.target });
  return { response: isSummary(round.response) ? round.response : null };
}

/** What the model says of the conversation is no part of it; that it is asked again or replaced is told as ever. */
function onlyRetries(emit: EventSink): EventSink {
  return (event) => {
    if (event.type === 'retry' || event.type === 'model_fallback') emit(event);
  };
}

function isSummary({ reason, complete, withheldCalls, text }: ModelResponse): boolean {
  return (reason === 'stop' || reason === 'other') && complete && withheldCalls === 0 && text.trim() !== '';
}

/** Whether the history becomes smaller and fits. */
function frees<Context>({ history, size }: LoopRun<Context>, plan: CompactionPlan, summary: ModelMessage, window: number): boolean {
  const before = estimateMessages(history);
  const after = estimateMessages(compactHistory(history, { ...plan, summary }));
  return after < before && size.overhead + after < window;
}

function modelOf<Context>({ input, used }: LoopRun<Context>): Partial<ModelTarget> {
  return input.models[used.target] ?? {};
}
