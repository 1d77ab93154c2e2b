/**
 * A run: prompts of one session, one after the other, until the input has ended or one result is due. It has no loop of its own: what
 * happens in a turn is the session's, what is told of it `TurnFrames`'s.
 *
 * R1  A message is a prompt of its own; one that comes while a turn runs joins it at its tool boundary, else it is the next prompt.
 * R2  Budgets are the run's: a turn gets what the turns before it have left.
 */
import type { LoopLimits, LoopStop } from '@echelon/agent-loop';
import { type AgentSession, SESSION_TOOLS, STRUCTURED_OUTPUT_TOOL } from '@echelon/agent-session';
import { type ControlAnswer, type ControlInput, type InputFrame, PROTOCOL_VERSION, type ResultFrame } from './frames.js';
import { CANCELLED, endsRun, inputVerdict, judgeTurn, type Verdict } from './outcome.js';
import { PermissionPrompts } from './permission-prompts.js';
import { RunBudget } from './run-budget.js';
import type { RunOutput } from './run-output.js';
import { RunQueue, type Work } from './run-queue.js';
import { type EndedTurn, RunTally } from './run-tally.js';
import { runTurn } from './run-turn.js';

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

export class AgentRun {
  private readonly queue = new RunQueue();
  private readonly tally = new RunTally();
  private readonly prompts: PermissionPrompts;
  private asksClient: boolean;
  private turn: AbortController | null = null;
  private turns = 0;
  private readonly budget = new RunBudget();
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
    const { session, schema, output, signal, partialMessages, limits } = this.facts;
    const { tally, prompts } = this;
    const turn = (this.turn = new AbortController());
    try {
      const { result, structured } = await runTurn({
        session,
        work,
        schema,
        limits: this.budget.left(limits),
        partialMessages,
        approve: this.asksClient ? (request, cancel) => prompts.ask(request, cancel) : null,
        output,
        tally,
        signal: AbortSignal.any([signal, turn.signal]),
      });
      this.endTurn(
        { verdict: judgeTurn(result.stop, { missesResult: schema !== null && structured === undefined }), result, structured },
        work,
      );
      return result.stop;
    } finally {
      this.turn = null;
    }
  }

  private endTurn(turn: EndedTurn, work: Work): void {
    const { verdict, result } = turn;
    this.budget.count(result.used);
    this.tally.addTurn(turn, work.kind === 'continue');
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
