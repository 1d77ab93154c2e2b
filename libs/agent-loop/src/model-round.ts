/**
 * One model round: requests until there is one response, or a reason to stop (agent-loop.md §4).
 *
 * R1  Before the first output a request is repeated, then the next model is asked; after it, one repetition per round, same model.
 * R2  Nothing of an abandoned attempt reaches history or a tool; `attempt_abandoned` tells the surface.
 * R3  Every request, repeated ones too, is prepared (barrier 1) right before it is sent: pending input is never left out (L7, L22).
 */
import { decideAttempt, newRoundState, type AttemptStep, type RoundState } from './attempt-decision.js';
import type { CallLedger } from './call-ledger.js';
import type { IdentifiedCall } from './call-result.js';
import { pause, type LoopClock } from './clock.js';
import type { Cut } from './cut.js';
import { isCallCutOff, judgeFinish, mayRunCalls } from './judge-response.js';
import type { EventSink } from './loop-events.js';
import { streamAttempt, type Attempt } from './model-attempt.js';
import type { ModelClient, ModelEvent, ModelRequest } from './model-port.js';
import { UNKNOWN_USAGE, type AbandonedAttempt, type ModelResponse } from './response.js';
import type { RetryPolicy } from './retry-policy.js';
import type { LoopStop } from './stop-reason.js';

export interface ModelTarget {
  readonly client: ModelClient;
  readonly model: string;
  /** Completion tokens to ask for; absent: the provider's default. */
  readonly maxOutputTokens?: number;
  /** The model's own maximum, used for one escalation after an output limit. */
  readonly outputCeiling?: number;
  /** Tokens that the model reads and writes together; absent: 128,000. A prompt that leaves too little of it is compacted. */
  readonly contextWindow?: number;
}

/** Which request is to be prepared. */
export interface SendPlan {
  readonly target: ModelTarget;
  /** 1 for the first request of the round. */
  readonly attempt: number;
}

export interface ModelRoundInput {
  /** The model to ask, then its fallbacks. */
  readonly targets: readonly ModelTarget[];
  /** Barrier 1: stores and returns the request, or says why it may not go out. */
  readonly prepare: (plan: SendPlan) => Promise<{ readonly request: ModelRequest } | { readonly stop: LoopStop }>;
  readonly ledger: CallLedger;
  /** For generated call ids: the turn's name and the round's number. */
  readonly turn: { readonly prefix: string; readonly round: number };
  readonly clock: LoopClock;
  readonly cut: Cut;
  readonly emit: EventSink;
  readonly retry: RetryPolicy;
  /** Repeat a wholly empty response once; for the first response of a turn. */
  readonly retryEmpty: boolean;
  /** Also forward `tool_call_preparation`. */
  readonly preparations: boolean;
}

export type ModelRoundResult =
  | { readonly response: ModelResponse; readonly target: number }
  /** `partial` holds what had arrived, for people; calls never. */
  | { readonly stop: LoopStop; readonly partial: ModelResponse | null };

/** One request of the round and what came back. */
interface SentRequest {
  readonly target: ModelTarget;
  /** Completion tokens that were asked for. */
  readonly limit: number | null;
  readonly toolNames: Iterable<string>;
  readonly attempt: Attempt;
  readonly abandoned: readonly AbandonedAttempt[];
}

/** Runs one round. Never throws for a failing model; a prepared request that may not go out ends the round. */
export async function runModelRound(input: ModelRoundInput): Promise<ModelRoundResult> {
  const abandoned: AbandonedAttempt[] = [];
  const facts = { targets: input.targets.length, retry: input.retry, random: () => input.clock.random() };
  let state = newRoundState(input.retryEmpty);
  for (;;) {
    const target = input.targets[state.target];
    if (target === undefined) return { stop: { reason: 'error', kind: 'configuration', message: 'no model is configured' }, partial: null };
    const prepared = await input.prepare({ target, attempt: state.attempt });
    if ('stop' in prepared) return { stop: prepared.stop, partial: null };
    const attempt = await send(input, target, prepared.request);
    const sent: SentRequest = {
      target,
      limit: prepared.request.maxOutputTokens ?? null,
      toolNames: namesOf(prepared.request),
      attempt,
      abandoned,
    };
    const step = decideAttempt(attempt, state, facts);
    if (step.do === 'respond') return { response: toResponse(input, sent), target: state.target };
    if (step.do === 'stop') return { stop: step.stop, partial: toPartial(input, sent, step.keepsPartial) };
    abandoned.push({ model: target.model, cause: step.cause, failure: step.failure, usage: attempt.collected.finish?.usage ?? null });
    const stop = await beforeNext(input, state, step, attempt);
    if (stop !== null) return { stop, partial: null };
    state = step.state;
  }
}

function send(input: ModelRoundInput, target: ModelTarget, request: ModelRequest): Promise<Attempt> {
  const emit = input.preparations ? input.emit : withoutPreparations(input.emit);
  return streamAttempt({ client: target.client, request, cut: input.cut, clock: input.clock, idleMs: input.retry.idleMs, emit });
}

function withoutPreparations(emit: EventSink): (event: ModelEvent) => void {
  return (event) => {
    if (event.type !== 'tool_call_preparation') emit(event);
  };
}

/** Tells the surface, waits, and asks again whether anything ends the round meanwhile. */
async function beforeNext(
  input: ModelRoundInput,
  state: RoundState,
  step: Extract<AttemptStep, { do: 'again' }>,
  attempt: Attempt,
): Promise<LoopStop | null> {
  if (attempt.collected.emitted) input.emit({ type: 'attempt_abandoned' });
  if (step.cause === 'fallback') {
    input.emit({ type: 'model_fallback', from: modelAt(input, state.target), to: modelAt(input, step.state.target) });
    return null;
  }
  input.emit({ type: 'retry', cause: step.cause, delayMs: step.delayMs, failure: step.failure });
  await pause(input.clock, step.delayMs, input.cut);
  if (input.cut.by === 'handOver') return { reason: 'handed_over' };
  return input.cut.by === 'loop' ? { reason: 'cancelled', by: 'signal' } : null;
}

function modelAt(input: ModelRoundInput, target: number): string {
  return input.targets[target]?.model ?? '';
}

/** The kept part of an attempt that ended the round; a handed-over or unanswered attempt keeps nothing. */
function toPartial(input: ModelRoundInput, sent: SentRequest, keeps: boolean): ModelResponse | null {
  const { collected } = sent.attempt;
  if (!collected.emitted) return null;
  if (keeps) return { ...describe(sent), message: collected.message([]), reason: 'interrupted', complete: false };
  input.emit({ type: 'attempt_abandoned' });
  return null;
}

function toResponse(input: ModelRoundInput, sent: SentRequest): ModelResponse {
  const { collected, end } = sent.attempt;
  const described = describe(sent);
  if (end.end === 'cut') return { ...described, message: collected.message([]), reason: 'stop', complete: false };
  const reason = judgeFinish(collected, sent.limit, sent.toolNames);
  if (!mayRunCalls(reason)) return { ...described, reason, message: collected.message([]) };
  const calls = identify(input, sent);
  return { ...described, reason, message: collected.message(calls), calls, withheldCalls: 0 };
}

function describe({ target, attempt: { collected }, abandoned }: SentRequest): ModelResponse {
  return {
    model: target.model,
    message: null,
    text: collected.text,
    calls: [],
    withheldCalls: collected.calls.length,
    reason: 'interrupted',
    rawReason: collected.finish?.rawReason ?? null,
    usage: collected.finish?.usage ?? UNKNOWN_USAGE,
    complete: true,
    abandoned,
  };
}

function identify(input: ModelRoundInput, { target, limit, attempt: { collected } }: SentRequest): IdentifiedCall[] {
  const scheme = { ...input.turn, replaceIds: target.client.repeatsCallIds ?? false };
  const outputTokens = collected.finish?.usage.outputTokens ?? null;
  return input.ledger
    .identify(collected.calls, scheme)
    .map((call, index) => ({ ...call, cutOff: isCallCutOff(collected.calls, index, outputTokens, limit) }));
}

function* namesOf(request: ModelRequest): Iterable<string> {
  for (const tool of request.tools) yield tool.name;
}
