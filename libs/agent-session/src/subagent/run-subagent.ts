/** Runs one subagent on the one loop, from its prompt to its one result. */
import {
  type BatchHooks,
  type LoopStop,
  type ModelMessage,
  runLoop,
  type StopPolicy,
  type ToolExecution,
  type ToolResult,
} from '@echelon/agent-loop';
import { denyAsking } from './deny-asking.js';
import { createSubagentProgress } from './subagent-progress.js';
import type { SubagentCall, SubagentHost } from './subagent-host.js';
import { toSubagentResult } from './subagent-result.js';

/** Shorter than the grace that its caller has, so that what it leaves is settled before the caller gives it up. */
const GRACE_MS = 2_000;

const ASK_FOR_RESULT =
  'Your work has ended without a result. Reply now with your result as text, without calling a tool: what you found or changed, and what is left open.';

export async function runSubagent<Context>(
  host: SubagentHost<Context>,
  { description, prompt }: Pick<SubagentCall, 'description' | 'prompt'>,
  { callId, signal, report }: Pick<ToolExecution<unknown>, 'callId' | 'signal' | 'report'>,
): Promise<ToolResult> {
  const { permissions, personPresent, hooks, close, ...run } = await host.open({ callId, description, prompt });
  const assignment: ModelMessage = { role: 'user', parts: [{ type: 'text', text: prompt }] };
  const history = [assignment];
  const policies = permissions === undefined ? {} : { permissions: personPresent ? permissions : denyAsking(permissions) };
  const ended = await runLoop<Context>({
    ...run,
    start: { history, instructions: [assignment], sendType: 'user' },
    signal,
    graceMs: GRACE_MS,
    policies,
    stopPolicies: [askForResultOnce()],
    ...(hooks === undefined ? {} : { hooks: onlyToolHooks(hooks) }),
    ...(report === undefined ? {} : { onEvent: createSubagentProgress(description, report) }),
  });
  const failure = (await close?.(ended.unrecorded).catch(toPersistenceError)) ?? null;
  return toSubagentResult(failure === null ? ended : { ...ended, stop: failure }, history);
}

/** A subagent that ends without a word is asked for its result, once. */
function askForResultOnce(): StopPolicy {
  let asked = false;
  return {
    name: 'subagent_result',
    decide: ({ text }) => {
      if (asked || text.trim() !== '') return Promise.resolve(null);
      asked = true;
      return Promise.resolve({ continueWith: ASK_FOR_RESULT });
    },
  };
}

/** Prompt submission and the stop point are its caller's, not a subagent's. */
function onlyToolHooks<Context>(hooks: BatchHooks<Context>): BatchHooks<Context> {
  return {
    ...(hooks.beforeTool === undefined ? {} : { beforeTool: hooks.beforeTool.bind(hooks) }),
    ...(hooks.afterTool === undefined ? {} : { afterTool: hooks.afterTool.bind(hooks) }),
    ...(hooks.afterBatch === undefined ? {} : { afterBatch: hooks.afterBatch.bind(hooks) }),
  };
}

function toPersistenceError(error: unknown): LoopStop {
  return { reason: 'error', kind: 'persistence', message: error instanceof Error ? error.message : 'its end could not be stored' };
}
