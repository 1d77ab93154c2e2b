import type { LoopClock } from './clock.js';
import { settleRun, settleUnrun, UNRUN, type SettledCall } from './call-result.js';
import type { PlannedCall } from './batch-ports.js';
import type { ToolResult } from './tool-port.js';

export interface ExecutionInput<Context> {
  readonly planned: PlannedCall<Context>;
  readonly context: Context;
  readonly signal: AbortSignal;
  readonly clock: LoopClock;
  readonly graceMs: number;
  readonly report: (chunk: string) => void;
}

export type Execution =
  | { readonly end: 'settled'; readonly settled: SettledCall; readonly fault?: unknown }
  /** Cut by the signal: what is known of it, if it is not repeated elsewhere. */
  | { readonly end: 'interrupted'; readonly settled: SettledCall }
  | { readonly end: 'waits'; readonly waitsFor: string };

type Returned = { readonly result: ToolResult } | { readonly fault: unknown };

/**
 * Runs one call. A result that comes is kept, also after an abort; a tool that does not return within the grace is left behind.
 * A time limit is an error result, not a cancel.
 */
export async function executeCall<Context>(input: ExecutionInput<Context>): Promise<Execution> {
  const patience = new Patience(input);
  const returned = await patience.wait(invoke(input, patience.signal));
  if (returned !== null && 'result' in returned && !returned.result.isError) return toExecution(input, returned.result);
  if (patience.timedOut) return timedOut(input);
  if (input.signal.aborted) return interrupted(input, returned);
  if (returned === null || 'fault' in returned) return faulted(input, returned?.fault);
  return toExecution(input, returned.result);
}

async function invoke<Context>({ planned, context, report }: ExecutionInput<Context>, signal: AbortSignal): Promise<Returned> {
  try {
    return { result: await planned.tool.execute(planned.input, { callId: planned.call.callId, signal, context, report }) };
  } catch (fault) {
    return { fault };
  }
}

function toExecution<Context>({ planned }: ExecutionInput<Context>, result: ToolResult): Execution {
  if (result.parkedFor !== undefined) return { end: 'waits', waitsFor: result.parkedFor };
  return { end: 'settled', settled: settleRun(planned.call, result) };
}

function timedOut<Context>({ planned }: ExecutionInput<Context>): Execution {
  const text = `${planned.tool.name} did not finish within ${(planned.tool.timeLimitMs ?? 0) / 1_000} s and was ended.`;
  return { end: 'settled', settled: settleRun(planned.call, { text, isError: true }) };
}

function interrupted<Context>({ planned }: ExecutionInput<Context>, returned: Returned | null): Execution {
  if (returned === null && planned.tool.effect !== 'read') {
    return { end: 'interrupted', settled: settleUnrun(planned.call, 'unknown', UNRUN.unknown) };
  }
  const said = returned !== null && 'result' in returned ? `\n${returned.result.text}` : '';
  return { end: 'interrupted', settled: settleUnrun(planned.call, 'cancelled', `${UNRUN.stoppedWhileRunning}${said}`) };
}

function faulted<Context>({ planned }: ExecutionInput<Context>, fault: unknown): Execution {
  return { end: 'settled', settled: settleRun(planned.call, { text: UNRUN.fault, isError: true }), fault };
}

/** How long a call is waited for: to its end, or for the grace after an abort or a time limit. */
class Patience {
  /** What the tool runs under. */
  readonly signal: AbortSignal;
  timedOut = false;
  private readonly own: AbortController | null;
  private readonly over = Promise.withResolvers<Returned | null>();
  private cancelTimer: (() => void) | null = null;

  constructor(private readonly input: Pick<ExecutionInput<never>, 'planned' | 'signal' | 'clock' | 'graceMs'>) {
    const limit = input.planned.tool.timeLimitMs;
    this.own = limit === undefined ? null : new AbortController();
    this.signal = this.own?.signal ?? input.signal;
    if (limit !== undefined) this.cancelTimer = input.clock.after(limit, this.runOut);
  }

  /** What the call returned, or `null` if it was left behind. `call` never rejects. */
  async wait(call: Promise<Returned>): Promise<Returned | null> {
    const { signal } = this.input;
    if (signal.aborted) this.end();
    else signal.addEventListener('abort', this.end);
    void call.then(this.over.resolve);
    const returned = await this.over.promise;
    signal.removeEventListener('abort', this.end);
    this.cancelTimer?.();
    return returned;
  }

  private readonly end = (): void => {
    this.own?.abort();
    this.cancelTimer?.();
    this.cancelTimer = this.input.clock.after(this.input.graceMs, () => this.over.resolve(null));
  };

  private readonly runOut = (): void => {
    this.timedOut = true;
    this.end();
  };
}
