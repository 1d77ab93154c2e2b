/** Decide all first: every call is validated, permitted and approved before any is launched (agent-loop.md §5). */
import type { ApprovalAnswer, PlannedCall } from './batch-ports.js';
import { checkAbort, openSlots, settle, type Batch, type Slot } from './batch.js';
import { UNRUN } from './call-result.js';
import { CHANGE_APPROACH, describeUnknownTool, validateArguments, validateInput, type Validation } from './validate-call.js';

/** From this many identical invalid calls in a row on, the error asks for another approach. */
const INVALID_STREAK = 3;

interface OpenQuestion<Context> {
  readonly slot: Slot<Context>;
  readonly planned: PlannedCall<Context>;
  readonly grant: string;
  readonly needsInteraction: boolean;
}

/** Leaves every slot settled, ready to launch, or waiting for an approval. */
export async function decideAll<Context>(batch: Batch<Context>): Promise<void> {
  const questions: OpenQuestion<Context>[] = [];
  for (const slot of openSlots(batch)) {
    if (checkAbort(batch)) return;
    plan(batch, slot);
    await runBeforeTool(batch, slot);
    if (slot.resumed) continue;
    const question = await check(batch, slot);
    if (question !== null) questions.push(question);
  }
  if (questions.length > 0) await askAll(batch, questions);
}

/** Finds the tool and validates the arguments; a call that started before is only found again. */
function plan<Context>(batch: Batch<Context>, slot: Slot<Context>): void {
  const { call } = slot;
  const tool = batch.input.tools.find(call.name);
  if (slot.resumed && tool?.idempotent !== true) return settle(batch, slot, 'unknown', slot.lostText);
  if (tool === null) return refuse(batch, slot, describeUnknownTool(call.name, batch.input.tools.names()));
  if (call.cutOff && tool.effect !== 'read') return settle(batch, slot, 'invalid', UNRUN.cutOffEdit);
  slot.tool = tool;
  accept(batch, slot, validateArguments(tool, call.arguments, batch.input.argumentLimits));
}

function accept<Context>(batch: Batch<Context>, slot: Slot<Context>, validation: Validation): void {
  if (validation.valid) slot.input = validation.input;
  else refuse(batch, slot, validation.text);
}

function refuse<Context>(batch: Batch<Context>, slot: Slot<Context>, text: string): void {
  settle(batch, slot, 'invalid', slot.streak >= INVALID_STREAK ? `${text}\n${CHANGE_APPROACH}` : text);
}

/** Before every launch, so again before a call that started before is repeated: the arguments on record are those of the model. */
async function runBeforeTool<Context>(batch: Batch<Context>, slot: Slot<Context>): Promise<void> {
  const { hooks } = batch.input.policies;
  const planned = toPlanned(slot);
  if (hooks?.beforeTool === undefined || planned === null) return;
  const change = await hooks.beforeTool(planned);
  if (change === null) return;
  if ('deny' in change) deny(batch, slot, change.deny);
  else accept(batch, slot, validateInput(planned.tool, change.input, batch.input.argumentLimits));
}

/** A call that started before may have had its effect: it is not denied any more, but it is not repeated either. */
function deny<Context>(batch: Batch<Context>, slot: Slot<Context>, text: string): void {
  if (slot.resumed) settle(batch, slot, 'unknown', `${slot.lostText} It was not repeated. ${text}`);
  else settle(batch, slot, 'denied', text);
}

async function check<Context>(batch: Batch<Context>, slot: Slot<Context>): Promise<OpenQuestion<Context> | null> {
  const planned = toPlanned(slot);
  const { permissions } = batch.input.policies;
  if (planned === null || permissions === undefined) return null;
  const verdict = await permissions.check(planned);
  if (verdict.decision === 'ask') return { slot, planned, grant: verdict.grant, needsInteraction: verdict.needsInteraction };
  if (verdict.decision === 'deny') settle(batch, slot, 'denied', verdict.reason);
  return null;
}

/** Asks in request order. The response is sealed before anybody is asked, so that an approval belongs to a stored call. */
async function askAll<Context>(batch: Batch<Context>, questions: readonly OpenQuestion<Context>[]): Promise<void> {
  batch.halt ??= await batch.input.barriers.flush();
  const granted = new Set<string>();
  for (const question of questions) {
    if (!question.needsInteraction && granted.has(question.grant)) continue;
    const answer = checkAbort(batch) ? null : await ask(batch, question.planned);
    if (answer === null) settleUnasked(batch, question.slot);
    else apply(batch, question, answer, granted);
  }
}

/** A cancelled run asks nobody; what a hand-over or a failed barrier left unasked is settled with the batch. */
function settleUnasked<Context>(batch: Batch<Context>, slot: Slot<Context>): void {
  if (batch.halt === null || batch.halt.reason === 'cancelled') settle(batch, slot, 'not_executed', UNRUN.approvalCancelled);
}

function apply<Context>(batch: Batch<Context>, { slot, grant }: OpenQuestion<Context>, answer: ApprovalAnswer, granted: Set<string>): void {
  switch (answer.decision) {
    case 'allow':
      if (answer.always) granted.add(grant);
      return;
    case 'deny':
      return settle(batch, slot, 'denied', answer.reason);
    case 'superseded':
      return settle(batch, slot, 'superseded', UNRUN.approvalSuperseded);
    case 'open':
      slot.wait = { kind: 'approval', callId: slot.call.callId, waitsFor: answer.waitsFor };
  }
}

/** `null`: the run was cancelled before the answer came. */
async function ask<Context>(batch: Batch<Context>, planned: PlannedCall<Context>): Promise<ApprovalAnswer | null> {
  const { policies, toolSignal, signal } = batch.input;
  const answer = policies.permissions?.ask(planned, toolSignal);
  if (answer === undefined) return null;
  const cancelled = Promise.withResolvers<null>();
  const cancel = (): void => cancelled.resolve(null);
  for (const source of [signal, toolSignal]) source.addEventListener('abort', cancel, { once: true });
  if (signal.aborted || toolSignal.aborted) cancel();
  try {
    return await Promise.race([answer, cancelled.promise]);
  } finally {
    for (const source of [signal, toolSignal]) source.removeEventListener('abort', cancel);
  }
}

/** The slot as policies see it, or `null` when it will not run. */
export function toPlanned<Context>({ call, tool, input, settled }: Slot<Context>): PlannedCall<Context> | null {
  return tool === null || settled !== null ? null : { call, tool, input };
}
