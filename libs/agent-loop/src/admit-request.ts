import { fitPrompt } from './compaction.js';
import { refuseRequest } from './limits.js';
import type { LoopRun } from './loop-run.js';
import type { ModelMessage } from './model-port.js';
import type { LoopStop } from './stop-reason.js';

/** Everything that may forbid the next request before it is prepared: cancel, limits, the prompt hook, the window. */
export async function admitRequest<Context>(run: LoopRun<Context>): Promise<LoopStop | null> {
  const { sendType } = run;
  const { signal, limits = {} } = run.input;
  if (signal.aborted) return { reason: 'cancelled', by: 'signal' };
  if (run.rounds >= (limits.maxRounds ?? Infinity)) return { reason: 'next_round' };
  const counts = sendType !== 'retry';
  return (
    refuseRequest(limits, run.budgeted, counts) ??
    (await admitPrompt(run)) ??
    (await fitPrompt(run)) ??
    // A compaction costs, too.
    refuseRequest(limits, run.budgeted, counts)
  );
}

async function admitPrompt<Context>(run: LoopRun<Context>): Promise<LoopStop | null> {
  const { sendType, unsentResults, lastResponse } = run;
  const { hooks } = run.input;
  if (hooks?.promptSubmit === undefined || (lastResponse !== null && unsentResults === null)) return null;
  const verdict = await hooks.promptSubmit({ sendType, text: unsentResults === null ? lastText(run.history) : '' });
  if (verdict === null) return null;
  run.emit({ type: 'hook_message', hook: 'prompt_submit', text: verdict.block });
  return { reason: 'prompt_blocked', explanation: verdict.block };
}

function lastText(history: readonly ModelMessage[]): string {
  const last = history.at(-1);
  return last?.role === 'user' ? last.parts.map((part) => part.text).join('\n') : '';
}
