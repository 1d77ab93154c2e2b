import { mkdtemp, readFile, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { ModelResponse, PlannedCall, SettledCall } from '@echelon/agent-loop';
import { createUserHooks, type HookFailure, type UserHooksOptions } from '@echelon/agent-session';
import { HooksConfig } from '@echelon/contracts';
import { waitFor } from '@echelon/testkit';
import { z } from 'zod';

let folder: string;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'echelon-hooks-'));
});
afterAll(() => rm(folder, { recursive: true }));

/** The hooks of a config as a user would write it, and what was told of those that failed. */
function open(config: unknown, given: Partial<UserHooksOptions> = {}) {
  const failures: HookFailure[] = [];
  const { signal } = new AbortController();
  const about = { folder, sessionId: 'session-1', turnId: 'turn-1', signal, onFailure: (failure: HookFailure) => failures.push(failure) };
  return { failures, hooks: createUserHooks<object>(HooksConfig.parse(config), { ...about, ...given }) };
}

/** A command that keeps what it was told in a file, and answers. */
const keeping = (file: string, answer: object) => ({ command: `cat > ${file}; printf '%s' '${JSON.stringify(answer)}'` });
const told = async (file: string): Promise<unknown> => JSON.parse(await readFile(join(folder, file), 'utf8'));

function planned(name = 'write_file', input: unknown = { path: 'a' }): PlannedCall<object> {
  const call = { callId: 'call-1', name, arguments: '{}', standing: 'fresh', cutOff: false } as const;
  const tool = {
    name,
    title: name,
    description: name,
    input: z.unknown(),
    effect: 'write',
    concurrencySafe: false,
    idempotent: false,
  } as const;
  return { call, input, tool: { ...tool, execute: () => Promise.resolve({ text: 'done', isError: false }) } };
}

function settled(name = 'write_file', text = 'done'): SettledCall {
  return { callId: 'call-1', name, status: 'succeeded', text, isError: false, endsTurn: false };
}

const response: ModelResponse = {
  model: 'm',
  message: null,
  text: 'All done.',
  calls: [],
  withheldCalls: 0,
  reason: 'stop',
  rawReason: 'stop',
  usage: { inputTokens: 1, outputTokens: 1, cachedInputTokens: null, reasoningTokens: null },
  complete: true,
  abandoned: [],
};

describe('what a hook is told', () => {
  const head = { version: 1, session_id: 'session-1', turn_id: 'turn-1', task_id: null };
  const call = { call_id: 'call-1', tool_name: 'write_file' };
  const result = { status: 'succeeded', is_error: false, text: 'done' };

  test('is one JSON object per event, with the session, the turn and the folder', async () => {
    const { hooks } = open({
      prompt_submit: [keeping('prompt.json', {})],
      before_tool: [keeping('before.json', {})],
      after_tool: [keeping('after.json', {})],
      after_batch: [keeping('batch.json', {})],
      stop: [keeping('stop.json', {})],
    });
    expect(await hooks.promptSubmit?.({ sendType: 'user', text: 'Go.' })).toBeNull();
    expect(await hooks.beforeTool?.(planned())).toBeNull();
    expect(await hooks.afterTool?.(planned(), settled())).toBeNull();
    expect(await hooks.afterBatch?.([settled()])).toBeNull();
    expect(await hooks.stop?.(response)).toBeNull();
    const about = { ...head, cwd: folder };
    expect(await told('prompt.json')).toEqual({ ...about, event: 'prompt_submit', send_type: 'user', prompt: 'Go.' });
    expect(await told('before.json')).toEqual({ ...about, event: 'before_tool', ...call, input: { path: 'a' } });
    expect(await told('after.json')).toEqual({ ...about, event: 'after_tool', ...call, input: { path: 'a' }, result });
    expect(await told('batch.json')).toEqual({ ...about, event: 'after_batch', results: [{ ...call, ...result }] });
    expect(await told('stop.json')).toEqual({ ...about, event: 'stop', finish_reason: 'stop', text: 'All done.' });
  });

  test('names the task where there is one', async () => {
    await open({ stop: [keeping('task.json', {})] }, { taskId: 'task-1' }).hooks.stop?.(response);
    expect(await told('task.json')).toMatchObject({ task_id: 'task-1' });
  });

  test('comes to those hooks only whose matcher takes the name; an event without hooks is no hook of the loop', async () => {
    const block = { command: 'echo no >&2; exit 2' };
    const { hooks } = open({
      prompt_submit: [{ ...block, matcher: 'user' }],
      before_tool: [{ ...block, matcher: 'run_command|mcp_*_write' }],
      after_batch: [{ ...block, matcher: 'edit_file' }],
    });
    expect(await hooks.promptSubmit?.({ sendType: 'tool_result', text: '' })).toBeNull();
    expect(await hooks.promptSubmit?.({ sendType: 'user', text: '' })).toEqual({ block: 'no' });
    const denied = async (name: string) => (await hooks.beforeTool?.(planned(name))) !== null;
    expect([await denied('run_command'), await denied('mcp_files_write'), await denied('mcp_files_read')]).toEqual([true, true, false]);
    expect(await hooks.afterBatch?.([settled('read_file')])).toBeNull();
    expect(await hooks.afterBatch?.([settled('read_file'), settled('edit_file')])).toEqual({ text: 'no' });
    expect(Object.keys(hooks)).toEqual(['promptSubmit', 'beforeTool', 'afterBatch']);
  });
});

describe('several hooks of an event', () => {
  test('run in order: each gets the input that the one before it wrote', async () => {
    const { hooks } = open({
      before_tool: [keeping('1.json', { input: { path: 'b' } }), keeping('2.json', {}), keeping('3.json', { input: { path: 'c' } })],
    });
    expect(await hooks.beforeTool?.(planned())).toEqual({ input: { path: 'c' } });
    expect(await told('2.json')).toMatchObject({ input: { path: 'b' } });
    expect(await told('3.json')).toMatchObject({ input: { path: 'b' } });
  });

  test('end with the first that blocks', async () => {
    const deny = { decision: 'block', reason: 'Not on Fridays.' };
    const { hooks } = open({ before_tool: [keeping('first.json', deny), keeping('never.json', {})], stop: [keeping('stop1.json', deny)] });
    expect(await hooks.beforeTool?.(planned())).toEqual({ deny: 'Not executed: Not on Fridays.' });
    expect(await hooks.stop?.(response)).toEqual({ block: 'Not on Fridays.' });
    expect(await readdir(folder)).not.toContain('never.json');
  });

  test('may each replace a result, and add to it', async () => {
    const { hooks } = open({
      after_tool: [
        keeping('after1.json', { result: 'password: ***', additional_context: 'One.' }),
        keeping('after2.json', { additional_context: 'Two.' }),
      ],
      after_batch: [keeping('batch1.json', { additional_context: 'Three.' }), keeping('batch2.json', { additional_context: 'Four.' })],
    });
    expect(await hooks.afterTool?.(planned(), settled('write_file', 'password: x'))).toEqual({ text: 'password: ***\n\nOne.\n\nTwo.' });
    expect(await told('after2.json')).toMatchObject({ result: { text: 'password: ***' } });
    expect(await hooks.afterBatch?.([settled()])).toEqual({ text: 'Three.\n\nFour.' });
  });

  test('withhold a result with a block', async () => {
    const { hooks } = open({ after_tool: [keeping('withheld.json', { decision: 'block', reason: 'It holds a key.' })] });
    expect(await hooks.afterTool?.(planned(), settled())).toEqual({ text: 'The result is withheld: It holds a key.' });
  });
});

describe('a hook that fails', () => {
  const failing: readonly [object, string][] = [
    [{ command: 'echo broken >&2; exit 1' }, 'it ended with exit code 1: broken'],
    [{ command: ['./absent'] }, 'it ended with exit code 127'],
    [{ command: 'exit 2' }, 'it blocked with exit code 2 and gave no reason'],
    [{ command: 'kill -9 $$' }, 'it was ended by SIGKILL'],
    [{ command: 'sleep 621', timeout_seconds: 1 }, 'it did not end within 1 s'],
    [{ command: 'yes' }, 'it printed more than 65536 bytes'],
    [{ command: 'echo fine' }, 'its answer is not JSON'],
    [{ command: 'echo 7' }, 'its answer is not as documented: it must be an object'],
    [{ command: `echo '{"decision":"deny"}'` }, 'its answer is not as documented: decision must be one of "allow", "block"'],
    [{ command: `echo '{"decison":"block"}'` }, 'its answer is not as documented: decison is unknown at this event'],
    [{ command: `echo '{"result":"x"}'` }, 'its answer is not as documented: result is unknown at this event'],
    [{ command: `echo '{"decision":"block"}'` }, 'its answer is not as documented: the decision "block" needs a reason'],
    [{ command: `echo '{"reason":"x"}'` }, 'its answer is not as documented: reason goes with the decision "block"'],
    [
      { command: `echo '{"decision":"block","reason":"x","input":{}}'` },
      'its answer is not as documented: input does not go with the decision "block"',
    ],
  ];

  test.each(failing)('%j is told and, unless it says otherwise, goes on', async (hook, failure) => {
    const { hooks, failures } = open({ before_tool: [hook] });
    expect(await hooks.beforeTool?.(planned())).toBeNull();
    expect(failures).toEqual([expect.objectContaining({ event: 'before_tool', blocked: false })]);
    expect(failures[0]?.message).toContain(`" failed: ${failure}`);
  });

  test('blocks where its on_failure says so, at every event, and the hooks after it do not run', async () => {
    const broken = [{ command: 'exit 1', on_failure: 'block' }, keeping('not-run.json', {})];
    const { hooks, failures } = open({
      prompt_submit: broken,
      before_tool: broken,
      after_tool: broken,
      after_batch: [broken[0]],
      stop: broken,
    });
    const message = (event: string) => `The ${event} hook "exit 1" failed: it ended with exit code 1.`;
    expect(await hooks.promptSubmit?.({ sendType: 'user', text: '' })).toEqual({ block: message('prompt_submit') });
    expect(await hooks.beforeTool?.(planned())).toEqual({ deny: `Not executed: ${message('before_tool')}` });
    expect(await hooks.afterTool?.(planned(), settled())).toEqual({ text: `The result is withheld: ${message('after_tool')}` });
    expect(await hooks.afterBatch?.([settled()])).toEqual({ text: message('after_batch') });
    expect(await hooks.stop?.(response)).toEqual({ block: message('stop') });
    expect(failures.map(({ blocked }) => blocked)).toEqual([true, true, true, true, true]);
    expect(await readdir(folder)).not.toContain('not-run.json');
  });
});

describe('a command', () => {
  test('that is a list is read by no shell; one that is text is', async () => {
    const { hooks } = open({ stop: [{ command: ['sh', '-c', 'printf "%s" "$1" >&2; exit 2', 'hook', '$HOME `id`'] }] });
    expect(await hooks.stop?.(response)).toEqual({ block: '$HOME `id`' });
    expect(await open({ stop: [{ command: 'pwd >&2; exit 2' }] }).hooks.stop?.(response)).toEqual({ block: folder });
  });

  test('starts when it gets a slot, and HTTP needs none', async () => {
    const order: string[] = [];
    const commandSlot: UserHooksOptions['commandSlot'] = async (work) => {
      order.push('waits');
      const done = await work();
      order.push('leaves');
      return done;
    };
    await open({ stop: [{ command: 'true' }, { url: 'http://127.0.0.1:1/' }] }, { commandSlot }).hooks.stop?.(response);
    expect(order).toEqual(['waits', 'leaves']);
  });

  test('and all that it started is gone after an abort; it has no say, but a result that it guards is withheld', async () => {
    const cancel = new AbortController();
    const { signal } = cancel;
    const command = 'echo $$ > hook.pid; sleep 631 & sleep 632';
    const { hooks, failures } = open(
      { before_tool: [{ command, on_failure: 'block' }], after_tool: [{ command, on_failure: 'block' }] },
      { signal },
    );
    const denied = hooks.beforeTool?.(planned());
    await waitFor('the hook runs', async () => (await readdir(folder)).includes('hook.pid'));
    cancel.abort();
    expect(await denied).toBeNull();
    expect(await hooks.afterTool?.(planned(), settled())).toEqual({
      text: 'The result is withheld: the run was cancelled before its hook had seen it.',
    });
    const pids = (await readdir('/proc')).filter((name) => /^\d+$/.test(name));
    const lines = await Promise.all(pids.map((pid) => readFile(`/proc/${pid}/cmdline`, 'latin1').catch(() => '')));
    expect(lines.filter((line) => line.includes('sleep\x0063'))).toEqual([]);
    expect(failures).toEqual([]);
  });
});
