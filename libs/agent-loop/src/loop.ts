/**
 * The one agent loop: model round, tool batch, continuation, typed outcome (agent-loop.md). It is only their composition.
 *
 * O1  History is append-only and goes to the client by reference: the cost of a round does not grow with their number.
 * O2  The next request is results first, then boundary input, which the journal hands over exactly once.
 * O3  There is no round cap: the model finishes, an error or a person stops, protection or an explicit budget trips.
 * O4  Every end is a typed stop reason; what is not stored goes back to the caller.
 */
import { admitRequest } from './admit-request.js';
import { NOTHING_KNOWN, type KnownCalls } from './batch-ports.js';
import type { IdentifiedCall } from './call-result.js';
import { compactRefused } from './compaction.js';
import { isContextOverflow } from './context-overflow.js';
import type { LoopInput, LoopResult } from './loop-input.js';
import { LoopRun } from './loop-run.js';
import { OUTPUT_BUDGET } from './output-budget.js';
import { requestResponse, type Requested } from './request-response.js';
import type { ModelResponse } from './response.js';
import { decideStopPoint } from './stop-point.js';
import type { LoopStop } from './stop-reason.js';
import { runToolBatch } from './tool-batch.js';

const CONCURRENCY = 10;
const GRACE_MS = 5_000;

const CONTINUE_OUTPUT = 'Your answer was cut off at the output limit. Continue exactly where it stopped, without repeating anything.';

/** Runs a turn, or the rest of one, to its stop reason. Rejects only when a callback of the surface throws. */
export async function runLoop<Context>(input: LoopInput<Context>): Promise<LoopResult> {
  const run = new LoopRun(input);
  try {
    let stop = await enter(run);
    while (stop === null) stop = await roundStep(run);
    return toResult(run, stop);
  } finally {
    run.cut.close();
  }
}

function toResult<Context>(run: LoopRun<Context>, stop: LoopStop): LoopResult {
  const { rounds, lastResponse, counters, usedByRun: used, unsentResults, barriers } = run;
  const result = { stop, rounds, lastResponse, counters, used, unrecorded: barriers.unrecorded };
  return unsentResults === null ? result : { ...result, unsentResults };
}

/** Takes up what an earlier run of the turn left: an open batch, or a response at its stop point. */
async function enter<Context>(run: LoopRun<Context>): Promise<LoopStop | null> {
  if (run.unfinished.length > 0) return batchStep(run, run.unfinished, run.input.start.known ?? NOTHING_KNOWN);
  if (run.answered === null) return null;
  return (await run.barriers.confirm()) ?? stopPointStep(run, run.answered);
}

/** One request and what follows from its response; `null`: go on. */
async function roundStep<Context>(run: LoopRun<Context>): Promise<LoopStop | null> {
  const refusal = await admitRequest(run);
  if (refusal !== null) return refusal;
  const round = await requestFitting(run);
  if ('stop' in round) return round.stop;
  run.accept(round.response);
  run.sendType = 'tool_result';
  switch (round.after.next) {
    case 'batch':
      return batchStep(run, round.response.calls, NOTHING_KNOWN);
    case 'stop_point':
      return stopPointStep(run, round.response);
    case 'continue_output':
      return continueOutput(run);
    case 'lead':
      return continueWithLead(run);
    case 'stop':
      return round.after.stop;
  }
}

/** A round whose prompt the provider finds too long is sent once more, compacted. */
async function requestFitting<Context>(run: LoopRun<Context>): Promise<Requested> {
  const round = await requestResponse(run);
  if (!('stop' in round) || !isContextOverflow(round.stop)) return round;
  const compacted = await compactRefused(run);
  if ('stop' in compacted) return compacted;
  return compacted.done ? requestResponse(run) : round;
}

/** Runs the calls of a response, or the rest of them; their results stand in history before anything else happens. */
async function batchStep<Context>(run: LoopRun<Context>, calls: readonly IdentifiedCall[], known: KnownCalls): Promise<LoopStop | null> {
  const { input, clock, emit, barriers, guard } = run;
  const { final, stop, launches } = await runToolBatch({
    calls,
    tools: input.tools,
    context: input.context,
    policies: { ...input.policies, ...(input.hooks === undefined ? {} : { hooks: input.hooks }) },
    barriers,
    guard,
    known,
    signal: input.signal,
    toolSignal: input.toolSignal ?? input.signal,
    clock,
    emit,
    artifacts: input.artifacts ?? null,
    outputBudget: input.outputBudget ?? OUTPUT_BUDGET,
    concurrency: input.concurrency ?? CONCURRENCY,
    graceMs: input.graceMs ?? GRACE_MS,
    launchesLeft: (input.limits?.budgets?.launches ?? Infinity) - run.used.launches,
    argumentLimits: input.limits?.arguments,
    leadPending: input.leadPending ?? noLead,
  });
  if (final === null) return stop;
  // A batch that is left open counts when it is answered: until then its launches are known from its calls.
  run.count({ launches: run.used.launches + launches });
  run.answer(final.message);
  return stop;
}

function noLead(): boolean {
  return false;
}

/** Who decides after a call-free response, in this order: pending Lead, stop hook, stop policies, end. */
async function stopPointStep<Context>(run: LoopRun<Context>, response: ModelResponse): Promise<LoopStop | null> {
  const { hooks, stopPolicies = [] } = run.input;
  if (run.leadPending) return continueWithLead(run);
  if (hooks?.stop === undefined && stopPolicies.length === 0) return endOf(run, response);
  // Hooks take their time: the response is stored before they are asked.
  const halt = await run.barriers.flush();
  if (halt !== null) return halt;
  if (run.leadPending) return continueWithLead(run);
  const stopHook = hooks?.stop?.bind(hooks);
  const wish = await decideStopPoint({ response, stopHook, policies: stopPolicies, blocks: run.used.stopHookBlocks, emit: run.emit });
  // Who was cut off has not answered: the next worker asks again.
  const handedOver = run.barriers.checkHandOver();
  if (handedOver !== null) return handedOver;
  if (wish.decision === 'end') return endOf(run, response);
  if (wish.byHook) run.count({ stopHookBlocks: run.used.stopHookBlocks + 1 });
  return continueWith(run, wish.text);
}

function endOf<Context>(run: LoopRun<Context>, response: ModelResponse): LoopStop {
  if (run.input.signal.aborted) return { reason: 'cancelled', by: 'signal' };
  if (response.text.trim() !== '') return { reason: 'completed' };
  return { reason: 'completed_empty', toolsAnswered: run.used.launches > 0 };
}

function continueOutput<Context>(run: LoopRun<Context>): null {
  run.count({ outputContinuations: run.used.outputContinuations + 1 });
  return continueWith(run, CONTINUE_OUTPUT);
}

/** A continuation stays in the turn, under its prompt id, with a fresh loop-detector budget. */
function continueWith<Context>(run: LoopRun<Context>, text: string): null {
  run.guard.reset();
  run.say({ role: 'user', parts: [{ type: 'text', text }] });
  run.sendType = 'hook';
  return null;
}

/** The Lead itself comes with the next request, out of its transaction. */
function continueWithLead<Context>(run: LoopRun<Context>): null {
  run.sendType = 'lead';
  return null;
}
