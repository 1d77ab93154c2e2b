/** The first two steps of a batch: duplicates, then which of the other calls may run at all. */
import { openSlots, isLeadPending, settle, type Batch, type Slot } from './batch.js';
import { UNRUN } from './call-result.js';

/** Answers repeats and replays. When the provider runs in circles nothing of the batch runs, and the loop stops. */
export function settleDuplicates<Context>(batch: Batch<Context>): void {
  const circling = batch.slots.find((slot) => slot.call.standing === 'replay_again');
  if (circling !== undefined) batch.verdict = { reason: 'duplicate_provider_call', callId: circling.call.callId };
  for (const slot of batch.slots) {
    const { standing } = slot.call;
    if (standing !== 'fresh') slot.class = standing === 'repeat' ? 'repeat' : 'replay';
    if (slot.settled !== null) continue;
    if (standing === 'repeat') settle(batch, slot, 'duplicate', UNRUN.repeat);
    else if (standing !== 'fresh') settle(batch, slot, 'replay', UNRUN.replay);
    else if (circling !== undefined) skip(batch, slot, UNRUN.circles);
  }
}

/** Skips what comes after a turn-ending call, what the surface withholds, what loops, and what a pending Lead supersedes. */
export function settleUnselected<Context>(batch: Batch<Context>): void {
  skipAfterTurnEnd(batch);
  const withheld = batch.input.policies.select?.(openSlots(batch).map((slot) => slot.call));
  for (const slot of openSlots(batch)) {
    const text = withheld?.get(slot.call.callId);
    if (text !== undefined) skip(batch, slot, text);
  }
  skipLoopingCalls(batch);
  if (isLeadPending(batch)) skipForLead(batch);
}

function skipAfterTurnEnd<Context>(batch: Batch<Context>): void {
  const ending = batch.slots.findIndex(({ call }) => call.standing === 'fresh' && batch.input.tools.find(call.name)?.endsTurn === true);
  if (ending === -1) return;
  for (const slot of batch.slots.slice(ending + 1)) if (slot.settled === null) skip(batch, slot, UNRUN.afterTurnEnd);
}

function skipLoopingCalls<Context>(batch: Batch<Context>): void {
  let looping = false;
  for (const slot of batch.slots) {
    if (slot.call.standing !== 'fresh' || slot.class === 'skipped') continue;
    looping ||= batch.input.guard.countCall(slot.content);
    slot.streak = batch.input.guard.streak;
    if (!looping || slot.settled !== null || slot.resumed) continue;
    batch.verdict ??= {
      reason: 'loop_detected',
      explanation: `${slot.call.name} was called ${slot.streak} times in a row with the same arguments`,
    };
    skip(batch, slot, UNRUN.loop);
  }
}

function skipForLead<Context>(batch: Batch<Context>): void {
  const open = openSlots(batch).filter((slot) => !slot.resumed);
  for (const slot of batch.started ? open : open.slice(1)) settle(batch, slot, 'not_executed', UNRUN.redirected);
}

function skip<Context>(batch: Batch<Context>, slot: Slot<Context>, text: string): void {
  slot.class = 'skipped';
  settle(batch, slot, 'not_executed', text);
}
