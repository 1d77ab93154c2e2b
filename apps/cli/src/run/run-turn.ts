/** One turn of a run: what the session does with a prompt, told in frames, within what the run has left. */
import type { LoopLimits, LoopResult } from '@echelon/agent-loop';
import {
  type AgentSession,
  type Approve,
  createStructuredOutput,
  type SessionContext,
  type StructuredOutput,
  type TurnSurface,
} from '@echelon/agent-session';
import type { RunOutput } from './run-output.js';
import type { Work } from './run-queue.js';
import type { RunTally } from './run-tally.js';
import { TurnFrames } from './turn-frames.js';

export interface RunTurn {
  readonly session: AgentSession;
  readonly work: Work;
  /** Of the result, a JSON schema. */
  readonly schema: Readonly<Record<string, unknown>> | null;
  readonly limits: LoopLimits;
  readonly partialMessages: boolean;
  /** `null`: nobody is there to ask. */
  readonly approve: Approve | null;
  readonly output: RunOutput;
  readonly tally: RunTally;
  readonly signal: AbortSignal;
}

type Structured = StructuredOutput<SessionContext>;

export async function runTurn(
  turn: RunTurn,
): Promise<{ readonly result: LoopResult; readonly structured: ReturnType<Structured['result']> }> {
  const { session, work, schema, output, partialMessages } = turn;
  const structured = schema === null ? null : createStructuredOutput<SessionContext>(schema);
  const frames = new TurnFrames({
    sessionId: session.id,
    write: (frame) => output.write(frame),
    partial: partialMessages,
  });
  const result = await start(session, work, surfaceOf(turn, frames, structured));
  frames.end(result);
  return { result, structured: structured?.result() };
}

function start(session: AgentSession, work: Work, surface: TurnSurface): Promise<LoopResult> {
  if (work.kind === 'message') return session.prompt([{ type: 'text', text: work.text }], surface);
  return session.isInterrupted ? session.resume(surface) : session.retry(surface);
}

function surfaceOf({ output, tally, limits, approve, signal }: RunTurn, frames: TurnFrames, structured: Structured | null): TurnSurface {
  return {
    signal,
    limits,
    onBegin: (history) => frames.begin(history),
    onEvent: (event) => {
      tally.onEvent(event);
      frames.onEvent(event);
    },
    onHookFailure: ({ event, hook, message, blocked }) =>
      output.write({ type: 'system', subtype: 'hook_failure', event, hook, message, blocked }),
    policies: {
      ...structured?.policies,
      select: (calls) => {
        frames.tellHistory();
        return structured?.policies.select?.(calls) ?? new Map();
      },
      onResults: (results) => {
        tally.countDenials(results, frames.tellResults(results));
        return structured?.policies.onResults?.(results) ?? 'go_on';
      },
    },
    ...(structured === null ? {} : { tools: [structured.tool], stopPolicies: [structured.stopPolicy] }),
    ...(approve === null ? {} : { approve }),
  };
}
