import { afterEach, expect, test } from '@jest/globals';
import type { StopReason } from '@echelon/agent-loop';
import type { AgentScript, ScriptedResponse } from '@echelon/scripted-model';
import { Headless } from '../../../../test/support/headless.js';
import { OUTCOMES } from './outcome.js';

let headless: Headless | null = null;
afterEach(async () => {
  await headless?.close();
  headless = null;
});

const list = (id: string, args: object = {}) => ({ name: 'list_files', arguments: { ...args }, id });
const refused = (status: number, headers: Record<string, string> = {}): ScriptedResponse => ({
  faults: [{ kind: 'status', status, headers }],
});

interface Row {
  readonly script: AgentScript;
  readonly args?: readonly string[];
  readonly settings?: object;
  readonly subtype: string;
  readonly exitCode: number;
  /** What the result says of it. */
  readonly says?: RegExp;
}

const SCHEMA = '{"type":"object","properties":{"n":{"type":"integer"}},"required":["n"],"additionalProperties":false}';

/** What a run can end with, and how to make it. */
const REACHED: Partial<Record<StopReason, Row>> = {
  completed: { script: [{ text: 'Yes.' }], subtype: 'success', exitCode: 0 },
  completed_empty: { script: () => ({ text: '' }), subtype: 'success', exitCode: 0 },
  surface_ended: {
    script: [{ toolCalls: [{ name: 'structured_output', arguments: { n: 1 } }] }],
    args: ['--json-schema', SCHEMA],
    subtype: 'success',
    exitCode: 0,
  },
  turn_cap: {
    script: [{ text: 'I look.', toolCalls: [list('c1')] }, { text: 'Never.' }],
    args: ['--max-turns', '1'],
    subtype: 'error_max_turns',
    exitCode: 53,
    says: /last turn/,
  },
  budget_exhausted: {
    script: [{ toolCalls: [list('c1'), list('c2', { path: '.' })] }],
    args: ['--max-tool-calls', '1'],
    subtype: 'error_budget',
    exitCode: 55,
    says: /launches/,
  },
  loop_detected: { script: ({ index }) => ({ toolCalls: [list(`c${index}`)] }), subtype: 'error_loop', exitCode: 1, says: /list_files/ },
  duplicate_provider_call: { script: () => ({ toolCalls: [list('c1')] }), subtype: 'error_loop', exitCode: 1 },
  prompt_blocked: {
    script: [],
    settings: { hooks: { prompt_submit: [{ command: 'echo "not on a Sunday" >&2; exit 2' }] } },
    subtype: 'error_prompt_blocked',
    exitCode: 1,
    says: /not on a Sunday/,
  },
  output_limit: { script: [{ toolCalls: [list('c1')], finish: 'length' }], subtype: 'error_output_limit', exitCode: 1 },
  content_filtered: { script: [{ text: 'No', finish: 'content_filter' }], subtype: 'error_content_filtered', exitCode: 1 },
  tool_format: { script: () => ({ text: 'calling', finish: 'tool_calls' }), subtype: 'error_tool_format', exitCode: 1 },
  error: { script: () => refused(401), subtype: 'error_during_execution', exitCode: 1, says: /401/ },
  parked: { script: () => refused(429, { 'retry-after': '86400' }), subtype: 'error_unfinished', exitCode: 1 },
};

/** `cancelled` is in cancel.spec.ts. */
const ELSEWHERE: readonly StopReason[] = ['cancelled'];
/** No option sets a token limit; no tool of a session ends turns; nobody hands a run over, or asks for single rounds. */
const OUT_OF_REACH: readonly StopReason[] = ['token_limit', 'tool_ended_turn', 'handed_over', 'next_round'];

test('every stop reason has its row: it is made below, cancelled elsewhere, or out of reach [G3.7]', () => {
  expect(Object.keys(OUTCOMES).toSorted()).toEqual([...Object.keys(REACHED), ...ELSEWHERE, ...OUT_OF_REACH].toSorted());
});

test.each(Object.entries(REACHED))('a run that ends with %s says so, and exits as the table says [G3.7]', async (reason, row) => {
  headless = await Headless.open(row.script);
  if (row.settings !== undefined) headless.writeSettings(row.settings);
  const { code, result, frames } = await headless.play('-p', 'Go.', ...(row.args ?? []));
  expect([result.stop_reason, result.subtype, result.exit_code, code]).toEqual([reason, row.subtype, row.exitCode, row.exitCode]);
  expect(result.is_error).toBe(row.exitCode !== 0);
  expect(frames.at(-2)).toMatchObject({ subtype: 'turn_end', stop_reason: reason, is_error: result.is_error });
  if (row.says !== undefined) expect(result.error?.message).toMatch(row.says);
});
