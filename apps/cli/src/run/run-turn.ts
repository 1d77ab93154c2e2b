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
    history: () => session.history,
    write: (frame) => output.write(frame),
    partial: partialMessages,
  });
  const result = await begin(session, work, frames, surfaceOf(turn, frames, structured));
  frames.end(result);
  return { result, structured: structured?.result() };
}

/** What stood in the history before the turn was told by whoever ran it. */
function begin(session: AgentSession, work: Work, frames: TurnFrames, surface: TurnSurface): Promise<LoopResult> {
  const resumes = work.kind === 'continue' && session.isInterrupted;
  if (resumes) frames.skip(session.history);
  const running = start(session, work, surface);
  // The turn has begun, and nothing of it has happened yet but its prompt.
  if (!resumes) frames.skip(work.kind === 'message' ? session.history.slice(0, -1) : session.history);
  frames.tellHistory();
  return running;
}

function start(session: AgentSession, work: Work, surface: TurnSurface): Promise<LoopResult> {
  if (work.kind === 'message') return session.prompt([{ type: 'text', text: work.text }], surface);
  return session.isInterrupted ? session.resume(surface) : session.retry(surface);
}

function surfaceOf({ output, tally, limits, approve, signal }: RunTurn, frames: TurnFrames, structured: Structured | null): TurnSurface {
  return {
    signal,
    limits,
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
