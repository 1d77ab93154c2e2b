/** docs/hooks.md says what is so: its examples are run, and what it shows of inputs and answers is compared. */
import { chmod, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { ModelResponse, PlannedCall, SettledCall } from '@echelon/agent-loop';
import { createUserHooks } from '@echelon/agent-session';
import { type HookEvent, HooksConfig } from '@echelon/contracts';
import { readAnswer } from './hook-answer.js';

const text = await readFile(resolve(import.meta.dirname, '../../../../docs/hooks.md'), 'utf8');
/** Code blocks by the name behind their language. */
const blocks = new Map([...text.matchAll(/^```\w+ (\S+)\n(.*?)^```$/gms)].map(([, name = '', code = '']) => [name, code]));
const shown = (name: string): Record<string, unknown> => JSON.parse(blocks.get(name) ?? 'null') as Record<string, unknown>;

let folder: string;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'echelon-documented-'));
  for (const [name, code] of blocks) if (name.endsWith('.mjs')) await writeFile(join(folder, name), code);
});
afterAll(() => rm(folder, { recursive: true }));

function open(config: object) {
  const head = shown('input') as { session_id: string; turn_id: string; task_id: string };
  const ids = { sessionId: head.session_id, turnId: head.turn_id, taskId: head.task_id };
  const onFailure = ({ message }: { readonly message: string }): never => {
    throw new Error(message);
  };
  return createUserHooks<object>(HooksConfig.parse(config), { folder, ...ids, signal: new AbortController().signal, onFailure });
}

function planned(input: unknown): PlannedCall<object> {
  return { call: { callId: 'call_1', name: 'run_command' }, input } as PlannedCall<object>;
}

function settled(about: Partial<SettledCall> = {}): SettledCall {
  return { callId: 'call_1', name: 'run_command', status: 'succeeded', text: '', isError: false, endsTurn: false, ...about };
}

describe('docs/hooks.md', () => {
  test('shows a file of hooks that is taken', () => {
    expect(HooksConfig.parse(shown('hooks'))).toEqual(shown('hooks'));
  });

  test('shows the input of each event as it is', async () => {
    const keep = (event: HookEvent) => ({ [event]: [{ command: `cat > ${event}.json` }] });
    const hooks = open(
      Object.assign({}, ...(['prompt_submit', 'before_tool', 'after_tool', 'after_batch', 'stop'] as const).map(keep)) as object,
    );
    const { result, ...call } = shown('after_tool') as { input: object; result: { text: string } };
    const [batch] = (shown('after_batch') as { results: [{ text: string }] }).results;
    await hooks.promptSubmit?.({ sendType: 'user', text: shown('input').prompt as string });
    await hooks.beforeTool?.(planned(shown('before_tool').input));
    await hooks.afterTool?.(planned(call.input), settled({ text: result.text }));
    await hooks.afterBatch?.([settled({ status: 'denied', isError: true, text: batch.text })]);
    await hooks.stop?.({ reason: 'stop', text: shown('stop').text } as ModelResponse);
    const { event, send_type, prompt, ...head } = shown('input');
    const told = async (name: HookEvent): Promise<unknown> => JSON.parse(await readFile(join(folder, `${name}.json`), 'utf8'));
    expect(await told('prompt_submit')).toEqual({ ...head, cwd: folder, event, send_type, prompt });
    for (const name of ['before_tool', 'after_tool', 'after_batch', 'stop'] as const)
      expect(await told(name)).toEqual({ ...head, cwd: folder, ...shown(name) });
  });

  test('shows answers that are read', () => {
    const rows = [...text.matchAll(/^\| ([^|]+?) +\| (.*`\{ ".*) \|$/gm)];
    const answers = rows.flatMap(([, of = '', cell = '']) => {
      const events = of.startsWith('all but')
        ? (['prompt_submit', 'before_tool', 'after_tool', 'stop'] as const)
        : [of.replaceAll('`', '')];
      return [...cell.matchAll(/`(\{ .*? \})`/g)].flatMap(([, answer = '']) =>
        events.map((event) => [event as HookEvent, answer] as const),
      );
    });
    expect(answers).toHaveLength(4 * 2 + 1 + 2 + 1);
    for (const [event, answer] of answers) expect([event, readAnswer(event, answer)]).toEqual([event, { answer: expect.anything() }]);
  });

  test('shows a hook that forbids pushes', async () => {
    const hooks = open({ before_tool: [{ command: ['node', 'no-push.mjs'] }] });
    expect(await hooks.beforeTool?.(planned({ command: 'git add . && git  push origin main' }))).toEqual({
      deny: 'Not executed: Pushing is for people. Say in your answer what is ready to be pushed.',
    });
    expect(await hooks.beforeTool?.(planned({ command: 'git pull' }))).toBeNull();
  });

  test('shows a hook that redacts secrets', async () => {
    const hooks = open({ after_tool: [{ command: ['node', 'redact.mjs'], on_failure: 'block' }] });
    expect(await hooks.afterTool?.(planned({}), settled({ text: 'KEY=sk_123456789abc' }))).toEqual({ text: 'KEY=[redacted]' });
    expect(await hooks.afterTool?.(planned({}), settled({ text: 'nothing here' }))).toBeNull();
  });

  test('shows a hook that ends the turn only when the tests pass', async () => {
    const tests = async (script: string): Promise<void> => {
      await writeFile(join(folder, 'npm'), `#!/bin/sh\n${script}\n`);
      await chmod(join(folder, 'npm'), 0o755);
    };
    const hooks = open({ stop: [{ command: `PATH="${folder}:$PATH" node tests-first.mjs` }] });
    const response = { reason: 'stop', text: 'Done.' } as ModelResponse;
    await tests('echo "1 failed"; exit 1');
    expect(await hooks.stop?.(response)).toEqual({ block: 'The tests fail:\n1 failed\n' });
    await tests('exit 0');
    expect(await hooks.stop?.(response)).toBeNull();
  });
});
