import { existsSync } from 'node:fs';
import path from 'node:path';
import { afterEach, expect, test } from '@jest/globals';
import type { AgentScript } from '@echelon/scripted-model';
import { answers, controls, FRAMED, Headless, says } from '../../../../test/support/headless.js';
import type { OutputFrame } from './frames.js';

let headless: Headless;
const open = async (script: AgentScript): Promise<Headless> => (headless = await Headless.open(script));
afterEach(() => headless.close());

const write = (name: string, id: string) => ({ name: 'write_file', arguments: { path: name, content: name }, id });
const isThere = (name: string): boolean => existsSync(path.join(headless.folder, name));

type Asked = Extract<OutputFrame, { type: 'control_request' }>;
const asksFor =
  (callId: string) =>
  (frame: OutputFrame): frame is Asked =>
    frame.type === 'control_request' && frame.request.tool_use_id === callId;
const statuses = (frames: readonly OutputFrame[]): readonly string[] =>
  frames.flatMap((frame) =>
    frame.type === 'user'
      ? frame.message.content.flatMap((block) => (block.type === 'tool_result' ? [`${block.tool_use_id} ${block.status}`] : []))
      : [],
  );
const BATCH: AgentScript = [{ toolCalls: [write('a.txt', 'c1'), write('b.txt', 'c2')] }, { text: 'Done.' }];

test('all of a batch is asked before any of it starts; what is allowed runs once, what is denied is told and listed [G8.7][G8.8]', async () => {
  await open(BATCH);
  const run = headless.start(...FRAMED, '--permission-prompts', '--include-partial-messages');
  run.send(says('Write.'));
  const first = await run.frame(asksFor('c1'));
  expect(first.request).toEqual({
    subtype: 'can_use_tool',
    tool_use_id: 'c1',
    tool_name: 'write_file',
    title: expect.any(String),
    effect: 'write',
    input: { path: 'a.txt', content: 'a.txt' },
    grant: 'write_file',
  });
  run.send(answers(first.request_id, { behavior: 'allow' }));
  const second = await run.frame(asksFor('c2'));
  expect(isThere('a.txt')).toBe(false);
  run.send(answers(second.request_id, { behavior: 'deny', message: 'not this one' }));
  run.endInput();
  const { frames, result, code } = await run.ended;
  const order = frames.flatMap((frame) => {
    if (frame.type === 'control_request') return [`ask ${frame.request.tool_use_id}`];
    return frame.type === 'stream_event' && frame.event.type === 'tool_started' ? [`start ${frame.event.tool_use_id}`] : [];
  });
  expect(order).toEqual(['ask c1', 'ask c2', 'start c1']);
  expect(statuses(frames)).toEqual(['c1 succeeded', 'c2 denied']);
  expect([isThere('a.txt'), isThere('b.txt'), code]).toEqual([true, false, 0]);
  expect(result.permission_denials).toEqual([
    {
      tool_use_id: 'c2',
      tool_name: 'write_file',
      tool_input: { path: 'b.txt', content: 'b.txt' },
      reason: expect.stringContaining('not this one'),
    },
  ]);
});

test('"always" settles the rest of the batch and of the session unasked; a client may opt in when it says hello', async () => {
  await open([...(BATCH as never[]).slice(0, 1), { toolCalls: [write('c.txt', 'c3')] }, { text: 'Done.' }]);
  const run = headless.start(...FRAMED);
  run.send(controls('hello', { subtype: 'initialize', can_use_tool: true }), says('Write.'));
  const { request_id } = await run.frame(asksFor('c1'));
  run.send(answers(request_id, { behavior: 'allow', always: true }));
  run.endInput();
  const { frames } = await run.ended;
  expect(frames.filter(({ type }) => type === 'control_request')).toHaveLength(1);
  expect(statuses(frames)).toEqual(['c1 succeeded', 'c2 succeeded', 'c3 succeeded']);
});

test('an answer that does not come in time is a no; one that comes late is of no effect', async () => {
  await open(BATCH);
  const run = headless.start(...FRAMED, '--permission-prompts', '--permission-timeout', '1');
  run.send(says('Write.'));
  const { request_id } = await run.frame(asksFor('c1'));
  await run.frame((frame): frame is OutputFrame => frame.type === 'control_cancel_request' && frame.request_id === request_id);
  run.send(answers(request_id, { behavior: 'allow' }));
  const second = await run.frame(asksFor('c2'));
  run.send(answers(second.request_id, { behavior: 'allow' }));
  run.endInput();
  const { frames, result, code } = await run.ended;
  expect(statuses(frames)).toEqual(['c1 denied', 'c2 succeeded']);
  expect(result.permission_denials[0]?.reason).toContain('nobody answered within 1 s');
  expect([isThere('a.txt'), isThere('b.txt'), code]).toEqual([false, true, 0]);
});

test('an interrupt while an approval waits leaves nothing waiting: every call is answered, and the next prompt runs [G8.7]', async () => {
  await open([{ toolCalls: [write('a.txt', 'c1'), write('b.txt', 'c2')] }, { text: 'As you like.' }]);
  const run = headless.start(...FRAMED, '--permission-prompts');
  run.send(says('Write.'));
  const { request_id } = await run.frame(asksFor('c1'));
  run.send(controls('stop', { subtype: 'interrupt' }));
  await run.frame((frame): frame is OutputFrame => frame.type === 'control_cancel_request' && frame.request_id === request_id);
  await run.frame((frame): frame is OutputFrame => frame.type === 'system' && frame.subtype === 'turn_end');
  run.send(says('Then not.'));
  run.endInput();
  const { frames, result, code } = await run.ended;
  expect(statuses(frames)).toEqual(['c1 not_executed', 'c2 not_executed']);
  expect(frames).toContainEqual({
    type: 'control_response',
    response: { subtype: 'success', request_id: 'stop', response: { interrupted: true } },
  });
  expect([result.result, code]).toEqual(['As you like.', 0]);
  expect([isThere('a.txt'), isThere('b.txt')]).toEqual([false, false]);
});

test('a client that goes away while it is asked has said no', async () => {
  await open(BATCH);
  const run = headless.start(...FRAMED, '--permission-prompts');
  run.send(says('Write.'));
  await run.frame(asksFor('c1'));
  run.endInput();
  const { frames, code } = await run.ended;
  expect(statuses(frames)).toEqual(['c1 denied', 'c2 denied']);
  expect(code).toBe(0);
});

test('where nobody is there to ask, what the mode leaves open is denied, with a reason, and listed', async () => {
  await open(BATCH);
  const { frames, result } = await headless.play('-p', 'Write.');
  expect(statuses(frames)).toEqual(['c1 denied', 'c2 denied']);
  expect(result.permission_denials.map(({ tool_use_id, reason }) => [tool_use_id, reason])).toEqual([
    ['c1', expect.stringContaining('it needs the approval of a person')],
    ['c2', expect.stringContaining('it needs the approval of a person')],
  ]);
});

test('a mode that the client sets holds from the next call on', async () => {
  await open(BATCH);
  const run = headless.start(...FRAMED);
  run.send(controls('mode', { subtype: 'set_permission_mode', mode: 'accept_edits' }), says('Write.'));
  run.endInput();
  const { frames } = await run.ended;
  expect(statuses(frames)).toEqual(['c1 succeeded', 'c2 succeeded']);
});
