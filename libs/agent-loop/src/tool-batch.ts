/**
 * One tool batch: duplicates, selection, decide all, launch hook, run, finalize, results (agent-loop.md §5).
 *
 * X1  Every call has exactly one result, unless the batch is left open (`parked`, `handed_over`) to be entered again.
 * X2  No call runs twice: a call with a known result keeps it; a started one is `unknown` unless its tool is idempotent.
 * X3  Nothing is executed past a barrier that failed, nor after an abort.
 */
import { decideAll } from './batch-decisions.js';
import { runGroups } from './batch-run.js';
import { settleDuplicates, settleUnselected } from './batch-selection.js';
import { checkAbort, openBatch, settle, type Batch, type ResultClass, type Slot, type ToolBatchInput } from './batch.js';
import { persistenceError } from './barriers.js';
import { UNRUN, type CallStatus, type SettledCall } from './call-result.js';
import { finalizeResults, type FinalResults } from './finalize-results.js';
import type { LoopStop } from './stop-reason.js';

export interface ToolBatchResult {
  /** `null` while the batch is left open. */
  readonly final: FinalResults | null;
  readonly stop: LoopStop | null;
  readonly launches: number;
}

/** Runs the calls of one response, or the rest of them. Results are held in the barriers for the next request or the settlement. */
export async function runToolBatch<Context>(input: ToolBatchInput<Context>): Promise<ToolBatchResult> {
  const batch = openBatch(input);
  checkAbort(batch);
  settleDuplicates(batch);
  settleUnselected(batch);
  if (!checkAbort(batch)) await decideAll(batch);
  await runGroups(batch);
  const left = leftOpen(batch);
  if (left !== null) return { final: null, stop: left, launches: batch.launches };
  return { ...(await close(batch)), launches: batch.launches };
}

/** Why the batch is entered again later, or `null` when it can be answered now. */
function leftOpen<Context>(batch: Batch<Context>): LoopStop | null {
  if (batch.halt !== null) return batch.halt.reason === 'handed_over' ? batch.halt : null;
  const waits = batch.slots.flatMap((slot) => slot.wait ?? []);
  return waits.length === 0 || batch.input.toolSignal.aborted ? null : { reason: 'parked', for: waits };
}

async function close<Context>(batch: Batch<Context>): Promise<Pick<ToolBatchResult, 'final' | 'stop'>> {
  for (const slot of batch.slots) if (slot.settled === null) settleLeftOver(batch, slot);
  const { outputBudget, artifacts, barriers, policies } = batch.input;
  const final = await finalizeResults(await runAfterBatch(batch), outputBudget, artifacts);
  for (const result of final.results) barriers.holdResult(result);
  const looping = countAnswers(batch, final.results);
  const ended = (await policies.onResults?.(byClass(batch, final.results))) === 'end';
  // Without a full text to refer to, the run does not go on; its results stay paired.
  const failed = final.storeFailure === null ? null : persistenceError(final.storeFailure);
  const verdict = ended ? ({ reason: 'surface_ended' } as const) : (batch.verdict ?? looping);
  return { final, stop: failed ?? batch.halt ?? endedTurn(batch) ?? verdict };
}

function settleLeftOver<Context>(batch: Batch<Context>, slot: Slot<Context>): void {
  if (slot.resumed) return settle(batch, slot, 'unknown', slot.lostText);
  if (slot.wait?.kind === 'result') return settle(batch, slot, 'cancelled', UNRUN.stoppedWhileRunning);
  if (slot.wait?.kind === 'approval') return settle(batch, slot, 'not_executed', UNRUN.approvalCancelled);
  settle(batch, slot, 'not_executed', whyUnrun(batch));
}

function whyUnrun<Context>({ halt, endedBy }: Batch<Context>): string {
  if (halt?.reason === 'error') return UNRUN.persistence;
  return endedBy !== null && halt === null ? UNRUN.afterTurnEnd : UNRUN.cancelled;
}

function endedTurn<Context>({ endedBy }: Batch<Context>): LoopStop | null {
  return endedBy === null ? null : { reason: 'tool_ended_turn', callId: endedBy.callId, tool: endedBy.name };
}

const CLASS_ORDER: readonly ResultClass[] = ['replay', 'executed', 'skipped', 'repeat'];

/** How results are reported: replays, executed, skipped, repeats; each in the order of the calls. */
function byClass<Context>({ slots }: Batch<Context>, results: readonly SettledCall[]): readonly SettledCall[] {
  if (slots.every((slot) => slot.class === 'executed')) return results;
  return CLASS_ORDER.flatMap((name) => results.filter((_, at) => slots[at]?.class === name));
}

/** Not again for a batch whose results were all final before. */
async function runAfterBatch<Context>(batch: Batch<Context>): Promise<readonly SettledCall[]> {
  const results = batch.slots.flatMap((slot) => slot.settled ?? []);
  const { hooks } = batch.input.policies;
  const last = results.at(-1);
  if (hooks?.afterBatch === undefined || batch.halt !== null || last === undefined || batch.slots.every((slot) => slot.recorded))
    return results;
  const added = await hooks.afterBatch(results);
  if (added === null) return results;
  batch.input.emit({ type: 'hook_message', hook: 'after_batch', text: added.text });
  return [...results.slice(0, -1), { ...last, text: `${last.text}\n\n${added.text}` }];
}

const ANSWERED: ReadonlySet<CallStatus> = new Set(['succeeded', 'failed', 'invalid', 'denied']);

/** Identical answers are counted in the order of the calls, once all are known. */
function countAnswers<Context>({ slots, input }: Batch<Context>, results: readonly SettledCall[]): LoopStop | null {
  let stop: LoopStop | null = null;
  for (const [at, { content }] of slots.entries()) {
    const result = results[at];
    if (result === undefined || !ANSWERED.has(result.status) || !input.guard.countAnswer(content, result.text)) continue;
    stop ??= {
      reason: 'loop_detected',
      explanation: `${content.name} brought the same result several times in a row for the same arguments`,
    };
  }
  return stop;
}
