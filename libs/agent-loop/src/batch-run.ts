/** Launches the groups of a batch in order: launch hook, barrier, run. Nothing starts after an abort, a halt or a turn-ending result. */
import { toPlanned } from './batch-decisions.js';
import { checkAbort, isLeadPending, settle, type Batch, type Slot } from './batch.js';
import { partition } from './batch-partition.js';
import { UNRUN, type SettledCall } from './call-result.js';
import { persistenceError } from './barriers.js';
import { boundResult } from './finalize-results.js';
import { exceedsResultBudget } from './output-budget.js';
import { executeCall, type Execution } from './tool-execution.js';

export async function runGroups<Context>(batch: Batch<Context>): Promise<void> {
  for (const group of partition(batch.slots)) {
    if (group.concurrent && group.slots.length > 1) await runTogether(batch, group.slots);
    else for (const slot of group.slots) await runAlone(batch, slot);
  }
}

async function runAlone<Context>(batch: Batch<Context>, slot: Slot<Context>): Promise<void> {
  if (!(await mayLaunch(batch, slot))) return;
  for (const starting of await passBarrier(batch, [slot])) await launch(batch, starting, () => false);
}

/** Keeps as many calls in flight as fit; every call that fits is offered before any of them starts. */
async function runTogether<Context>(batch: Batch<Context>, slots: readonly Slot<Context>[]): Promise<void> {
  const running = new Set<Promise<void>>();
  let next = 0;
  while (next < slots.length || running.size > 0) {
    const wave: Slot<Context>[] = [];
    for (; next < slots.length && running.size + wave.length < batch.input.concurrency; next++) {
      const slot = slots[next];
      if (slot !== undefined && (await mayLaunch(batch, slot))) wave.push(slot);
    }
    for (const slot of await passBarrier(batch, wave)) {
      const call = launch(batch, slot, () => running.size > 1).finally(() => running.delete(call));
      running.add(call);
    }
    if (running.size > 0) await nextOf(running);
  }
}

/** A broken hook is thrown on only when no sibling runs any more. */
async function nextOf(running: ReadonlySet<Promise<void>>): Promise<void> {
  try {
    await Promise.race(running);
  } catch (error) {
    await Promise.allSettled(running);
    throw error;
  }
}

/** Offers the call to the surface; settles it where it may not run. */
async function mayLaunch<Context>(batch: Batch<Context>, slot: Slot<Context>): Promise<boolean> {
  const { policies, launchesLeft } = batch.input;
  if (slot.settled !== null) {
    if (!slot.recorded && !checkAbort(batch)) await policies.beforeToolLaunch?.(slot.call, { settled: true });
    return false;
  }
  if (isClosed(batch) || slot.wait !== null) return false;
  if (slot.resumed) return true;
  if (batch.endedBy !== null) return refuse(batch, slot, UNRUN.afterTurnEnd);
  if (batch.started && isLeadPending(batch)) return refuse(batch, slot, UNRUN.redirected);
  if (batch.launches >= launchesLeft) {
    batch.verdict ??= { reason: 'budget_exhausted', budget: 'launches' };
    return refuse(batch, slot, UNRUN.launchBudget);
  }
  const allowed = (await policies.beforeToolLaunch?.(slot.call, { settled: false })) ?? true;
  if (!allowed) return refuse(batch, slot, UNRUN.refusedByHost);
  batch.launches++;
  return true;
}

/** Barriers 2 and 3 for the calls that are about to start. Returns those that still may. */
async function passBarrier<Context>(batch: Batch<Context>, wave: readonly Slot<Context>[]): Promise<readonly Slot<Context>[]> {
  if (wave.length === 0) return wave;
  const fresh = wave.filter((slot) => !slot.resumed);
  const intents = fresh.filter((slot) => slot.tool?.effect !== 'read').map((slot) => slot.call.callId);
  batch.halt ??= await batch.input.barriers.intend(intents);
  const closed = isClosed(batch);
  const superseded = isLeadPending(batch) && !closed ? fresh.slice(batch.started ? 0 : 1) : [];
  for (const slot of superseded) refuse(batch, slot, UNRUN.redirected);
  const starting = closed ? [] : wave.filter((slot) => slot.settled === null);
  batch.launches -= fresh.length - starting.filter((slot) => !slot.resumed).length;
  return starting;
}

/** A parked sibling keeps what follows it waiting, too: it is decided when the turn is entered again. */
function isClosed<Context>(batch: Batch<Context>): boolean {
  return checkAbort(batch) || batch.slots.some((slot) => slot.wait !== null);
}

function refuse<Context>(batch: Batch<Context>, slot: Slot<Context>, text: string): false {
  settle(batch, slot, 'not_executed', text);
  return false;
}

async function launch<Context>(batch: Batch<Context>, slot: Slot<Context>, hasSiblings: () => boolean): Promise<void> {
  const planned = toPlanned(slot);
  if (planned === null) return;
  const { emit, context, toolSignal, clock, graceMs } = batch.input;
  const { callId, name } = slot.call;
  batch.started = true;
  emit({ type: 'tool_started', callId, name });
  const report = (chunk: string): void => emit({ type: 'tool_output', callId, chunk });
  const execution = await executeCall({ planned, context, signal: toolSignal, clock, graceMs, report });
  const settled = await conclude(batch, slot, execution);
  if (settled === null) return;
  batch.input.barriers.holdResult(settled);
  // The last result of a group shares its transaction with what comes next; earlier ones do not wait for slow siblings.
  if (planned.tool.effect !== 'read' && hasSiblings()) batch.halt ??= await batch.input.barriers.flush();
}

/** Takes over what came of a call; `null` where it stays open for the next run of this turn. */
async function conclude<Context>(batch: Batch<Context>, slot: Slot<Context>, execution: Execution): Promise<SettledCall | null> {
  if (execution.end === 'waits') {
    slot.wait = { kind: 'result', callId: slot.call.callId, waitsFor: execution.waitsFor };
    return null;
  }
  const handOver = batch.input.barriers.checkHandOver();
  if (execution.end === 'interrupted' && handOver !== null && !batch.input.signal.aborted) {
    batch.halt ??= handOver;
    return null;
  }
  const settled = await bound(batch, await runAfterTool(batch, slot, execution.settled));
  slot.settled = settled;
  if (settled.endsTurn) batch.endedBy ??= settled;
  const { callId, status, text, structured } = settled;
  batch.input.emit({
    type: 'tool_settled',
    callId,
    status,
    text,
    ...(structured === undefined ? {} : { structured }),
    ...(execution.end === 'settled' && execution.fault !== undefined ? { fault: execution.fault } : {}),
  });
  return settled;
}

async function bound<Context>(batch: Batch<Context>, settled: SettledCall): Promise<SettledCall> {
  const { outputBudget, artifacts } = batch.input;
  if (!exceedsResultBudget(settled.text, outputBudget)) return settled;
  const { result, storeFailure } = await boundResult(settled, outputBudget, artifacts);
  if (storeFailure !== null) batch.halt ??= persistenceError(storeFailure);
  return result;
}

async function runAfterTool<Context>(batch: Batch<Context>, slot: Slot<Context>, settled: SettledCall): Promise<SettledCall> {
  const planned = toPlanned(slot);
  const change = planned === null ? null : await batch.input.policies.hooks?.afterTool?.(planned, settled);
  return change ? { ...settled, text: change.text } : settled;
}
