/** What a run adds up to: its one result, out of the turns it had. */
import type { LoopEvent, LoopResult, SettledCall, Usage } from '@echelon/agent-loop';
import type { ResultFrame } from './frames.js';
import type { Verdict } from './outcome.js';

/** A turn that has ended. */
export interface EndedTurn {
  readonly verdict: Verdict;
  readonly result: LoopResult;
  readonly structured: Readonly<Record<string, unknown>> | undefined;
}

type Denial = ResultFrame['permission_denials'][number];
type Totals = ResultFrame['usage'];

export class RunTally {
  private turns: readonly EndedTurn[] = [];
  private rounds = 0;
  private readonly denials: Denial[] = [];
  private usage: Totals = { input_tokens: 0, output_tokens: 0, cached_input_tokens: 0, reasoning_tokens: 0 };
  /** Of the request whose stream is not known to be over: a finish that is said twice counts once. */
  private open: Usage | null = null;

  onEvent(event: LoopEvent): void {
    if (event.type === 'finished') {
      this.open = event.usage;
      return;
    }
    this.countOpen();
    if (event.type === 'compacted') this.count(event.usage);
  }

  countDenials(results: readonly SettledCall[], calls: ReadonlyMap<string, unknown>): void {
    for (const { callId, name, status, text } of results)
      if (status === 'denied')
        this.denials.push({ tool_use_id: callId, tool_name: name, tool_input: calls.get(callId) ?? null, reason: text });
  }

  /** `again`: the turn is the last one, tried anew or gone on with. */
  addTurn(turn: EndedTurn, again: boolean): void {
    this.countOpen();
    this.rounds += turn.result.rounds;
    this.turns = [...(again ? this.turns.slice(0, -1) : this.turns), turn];
  }

  /** A run is as good as the first of its prompts that failed; one that a client interrupted has not failed. */
  get decisive(): EndedTurn | null {
    return this.turns.find(({ verdict }) => verdict.subtype !== 'success' && verdict.subtype !== 'cancelled') ?? this.turns.at(-1) ?? null;
  }

  toResult(verdict: Verdict, facts: Pick<ResultFrame, 'session_id' | 'model' | 'duration_ms' | 'undelivered'>): ResultFrame {
    const turn = this.decisive;
    const response = turn?.result.lastResponse ?? null;
    const isError = verdict.subtype !== 'success';
    return {
      type: 'result',
      subtype: verdict.subtype,
      is_error: isError,
      exit_code: verdict.exitCode,
      stop_reason: turn?.result.stop.reason ?? null,
      raw_finish_reason: response?.rawReason ?? null,
      result: response?.text ?? '',
      structured_result: turn?.structured ?? null,
      error: isError ? { message: verdict.message, status: statusOf(turn) } : null,
      num_turns: this.rounds,
      usage: this.usage,
      permission_denials: this.denials,
      ...facts,
    };
  }

  private countOpen(): void {
    if (this.open !== null) this.count(this.open);
    this.open = null;
  }

  private count({ inputTokens, outputTokens, cachedInputTokens, reasoningTokens }: Usage): void {
    const { input_tokens, output_tokens, cached_input_tokens, reasoning_tokens } = this.usage;
    this.usage = {
      input_tokens: input_tokens + (inputTokens ?? 0),
      output_tokens: output_tokens + (outputTokens ?? 0),
      cached_input_tokens: cached_input_tokens + (cachedInputTokens ?? 0),
      reasoning_tokens: reasoning_tokens + (reasoningTokens ?? 0),
    };
  }
}

function statusOf(turn: EndedTurn | null): number | null {
  const stop = turn?.result.stop;
  return stop?.reason === 'error' ? (stop.failure?.status ?? null) : null;
}
