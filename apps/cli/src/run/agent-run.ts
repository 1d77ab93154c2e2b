/**
 * A run: prompts of one session, one after the other, until the input has ended or one result is due. It has no loop of its own: what
 * happens in a turn is the session's, what is told of it `TurnFrames`'s.
 *
 * R1  A message is a prompt of its own; one that comes while a turn runs joins it at its tool boundary, else it is the next prompt.
 * R2  Budgets are the run's: a turn gets what the turns before it have left.
 */
import type { LoopLimits, LoopResult, LoopStop } from '@echelon/agent-loop';
import {
  type AgentSession,
  createStructuredOutput,
  SESSION_TOOLS,
  type SessionContext,
  STRUCTURED_OUTPUT_TOOL,
  type StructuredOutput,
  type TurnSurface,
} from '@echelon/agent-session';
import { type ControlAnswer, type ControlInput, type InputFrame, PROTOCOL_VERSION, type ResultFrame } from './frames.js';
import { CANCELLED, endsRun, inputVerdict, judgeStop, NO_RESULT, type Verdict } from './outcome.js';
import { PermissionPrompts } from './permission-prompts.js';
import type { RunOutput } from './run-output.js';
import { RunQueue, type Work } from './run-queue.js';
import { RunTally } from './run-tally.js';
import { TurnFrames } from './turn-frames.js';

export interface RunFacts {
  readonly session: AgentSession;
  readonly modelName: string;
  readonly limits: LoopLimits;
  /** Of the result, a JSON schema. */
  readonly schema: Readonly<Record<string, unknown>> | null;
  readonly partialMessages: boolean;
  /** Without this, or a client that asks for it, what would be asked is denied. */
  readonly permissionPrompts: boolean;
  readonly permissionTimeoutMs: number;
  readonly output: RunOutput;
  /** Ends the run. */
  readonly signal: AbortSignal;
}

type Structured = StructuredOutput<SessionContext>;

export class AgentRun {
  private readonly queue = new RunQueue();
  private readonly tally = new RunTally();
  private readonly prompts: PermissionPrompts;
  private asksClient: boolean;
  private turn: AbortController | null = null;
  private turns = 0;
  private spent = { launches: 0, tokens: 0, wallTimeMs: 0 };
  private wrongInput: string | null = null;

  constructor(private readonly facts: RunFacts) {
    const { output, permissionTimeoutMs, permissionPrompts } = facts;
    this.prompts = new PermissionPrompts((frame) => output.write(frame), permissionTimeoutMs);
    this.asksClient = permissionPrompts;
  }

  /** The first frame. */
  open(resumed: boolean): void {
    const { session, modelName, output, schema } = this.facts;
    output.write({
      type: 'system',
      subtype: 'init',
      protocol_version: PROTOCOL_VERSION,
      session_id: session.id,
      model: modelName,
      cwd: session.folder,
      permission_mode: session.mode,
      tools: [...SESSION_TOOLS, ...(schema === null ? [] : [STRUCTURED_OUTPUT_TOOL])],
      resumed,
      interrupted: session.isInterrupted,
    });
  }

  say(text: string): void {
    if (this.turn !== null && this.queue.size === 0) this.facts.session.inbox.add('input', text);
    else this.queue.add({ kind: 'message', text });
  }

  /** Goes on with an interrupted turn, or asks anew for what the last one did not bring. */
  continueLastTurn(): void {
    this.queue.add({ kind: 'continue' });
  }

  take(frame: InputFrame, line: number): void {
    switch (frame.type) {
      case 'user': {
        const { content } = frame.message;
        return this.say(typeof content === 'string' ? content : content.map(({ text }) => text).join('\n'));
      }
      case 'control_request':
        return this.control(frame);
      case 'control_response':
        return this.takeAnswer(frame, line);
    }
  }

  refuseInput(line: number, message: string): void {
    this.wrongInput ??= `Line ${line} of the input was not understood: ${message}`;
    this.facts.output.write({ type: 'system', subtype: 'input_error', line, message });
  }

  /** No input comes any more. */
  endInput(): void {
    this.prompts.close();
    this.queue.end();
  }

  /** Runs prompts until there are no more. Rejects when something breaks that no stop reason tells. */
  async play(): Promise<void> {
    const { signal } = this.facts;
    for (let work = await this.next(); work !== null; work = await this.next()) {
      const stop = await this.runTurn(work);
      if (endsRun(stop) || signal.aborted) return;
    }
  }

  /** `broken`: what ended the run in the midst of it. */
  result(durationMs: number, broken: Verdict | null): ResultFrame {
    const { session, modelName } = this.facts;
    const undelivered = this.queue.messages + session.inbox.pending.length;
    return this.tally.toResult(broken ?? this.verdict(), {
      session_id: session.id,
      model: modelName,
      duration_ms: durationMs,
      undelivered,
    });
  }

  private verdict(): Verdict {
    if (this.facts.signal.aborted) return CANCELLED;
    const verdict = this.tally.decisive?.verdict ?? null;
    if (this.wrongInput !== null && (verdict === null || verdict.subtype === 'success')) return inputVerdict(this.wrongInput);
    return verdict ?? inputVerdict('No message came.');
  }

  /** What came while a turn ran and did not join it is older than what waits. */
  private next(): Promise<Work | null> {
    const { session, signal } = this.facts;
    const text = signal.aborted ? null : session.inbox.takeNext();
    return text === null ? this.queue.next(signal) : Promise.resolve({ kind: 'message', text });
  }

  private async runTurn(work: Work): Promise<LoopStop> {
    const { session, schema, output, signal, partialMessages } = this.facts;
    const turn = (this.turn = new AbortController());
    const structured = schema === null ? null : createStructuredOutput<SessionContext>(schema);
    const frames = new TurnFrames({
      sessionId: session.id,
      history: () => session.history,
      write: (frame) => output.write(frame),
      partial: partialMessages,
    });
    try {
      const surface = this.surfaceOf(frames, structured, AbortSignal.any([signal, turn.signal]));
      const result = await begin(session, work, frames, surface);
      frames.end(result);
      this.endTurn(result, structured, work);
      return result.stop;
    } finally {
      this.turn = null;
    }
  }

  private endTurn(result: LoopResult, structured: Structured | null, work: Work): void {
    const { launches, tokens, elapsedMs } = result.counters;
    const { spent } = this;
    this.spent = { launches: spent.launches + launches, tokens: spent.tokens + tokens, wallTimeMs: spent.wallTimeMs + elapsedMs };
    const stopped = judgeStop(result.stop);
    const missed = structured !== null && stopped.subtype === 'success' && structured.result() === undefined;
    const verdict = missed ? NO_RESULT : stopped;
    this.tally.addTurn({ verdict, result, structured: structured?.result() }, work.kind === 'continue');
    this.facts.output.write({
      type: 'system',
      subtype: 'turn_end',
      turn: ++this.turns,
      stop_reason: result.stop.reason,
      raw_finish_reason: result.lastResponse?.rawReason ?? null,
      is_error: verdict.subtype !== 'success',
      message: verdict.message,
    });
  }

  private surfaceOf(frames: TurnFrames, structured: Structured | null, signal: AbortSignal): TurnSurface {
    const { output } = this.facts;
    return {
      signal,
      limits: this.limits(),
      onEvent: (event) => {
        this.tally.onEvent(event);
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
          this.tally.countDenials(results, frames.tellResults(results));
          return structured?.policies.onResults?.(results) ?? 'go_on';
        },
      },
      ...(structured === null ? {} : { tools: [structured.tool], stopPolicies: [structured.stopPolicy] }),
      ...(this.asksClient ? { approve: (request, cancel) => this.prompts.ask(request, cancel) } : {}),
    };
  }

  private limits(): LoopLimits {
    const { budgets = {}, ...rest } = this.facts.limits;
    const { launches, tokens, wallTimeMs } = budgets;
    const { spent } = this;
    return {
      ...rest,
      budgets: {
        ...budgets,
        ...(launches === undefined ? {} : { launches: launches - spent.launches }),
        ...(tokens === undefined ? {} : { tokens: tokens - spent.tokens }),
        ...(wallTimeMs === undefined ? {} : { wallTimeMs: wallTimeMs - spent.wallTimeMs }),
      },
    };
  }

  private takeAnswer(frame: ControlAnswer, line: number): void {
    const { request_id: id } = frame.response;
    if (!this.prompts.answer(frame)) this.refuseInput(line, `no request ${id} was made`);
  }

  private control({ request_id: id, request }: ControlInput): void {
    const { session } = this.facts;
    switch (request.subtype) {
      case 'initialize':
        this.asksClient = request.can_use_tool || this.facts.permissionPrompts;
        return this.reply(id, { session_id: session.id, protocol_version: PROTOCOL_VERSION });
      case 'interrupt': {
        const { turn } = this;
        turn?.abort();
        return this.reply(id, { interrupted: turn !== null });
      }
      case 'set_permission_mode':
        session.setMode(request.mode);
        return this.reply(id, { mode: request.mode });
      case 'continue_last_turn':
        if (this.turn !== null || this.queue.size > 0) return this.refuse(id, 'A turn is running, or a message waits.');
        if (session.history.length === 0 && !session.isInterrupted) return this.refuse(id, 'There is no turn to go on with.');
        this.reply(id, {});
        return this.continueLastTurn();
    }
  }

  private reply(request_id: string, response: Readonly<Record<string, unknown>>): void {
    this.facts.output.write({ type: 'control_response', response: { subtype: 'success', request_id, response: { ...response } } });
  }

  private refuse(request_id: string, error: string): void {
    this.facts.output.write({ type: 'control_response', response: { subtype: 'error', request_id, error } });
  }
}

/** Begins a turn; what stood in the history before it was told by whoever ran it. */
function begin(session: AgentSession, work: Work, frames: TurnFrames, surface: TurnSurface): Promise<LoopResult> {
  if (work.kind === 'continue' && session.isInterrupted) {
    frames.skip(session.history);
    return session.resume(surface);
  }
  const running = work.kind === 'message' ? session.prompt([{ type: 'text', text: work.text }], surface) : session.retry(surface);
  frames.skip(work.kind === 'message' ? session.history.slice(0, -1) : session.history);
  return running;
}
