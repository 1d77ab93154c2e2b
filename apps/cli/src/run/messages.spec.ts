import { execSync } from 'node:child_process';
import { afterEach, expect, test } from '@jest/globals';
import { type AgentScript, scriptByPrompt } from '@echelon/scripted-model';
import { controls, FRAMED, Headless, says } from '../../../../test/support/headless.js';
import type { OutputFrame } from './frames.js';

let headless: Headless;
const open = async (script: AgentScript): Promise<Headless> => (headless = await Headless.open(script));
afterEach(() => headless.close());

const list = (id: string) => ({ name: 'list_files', arguments: {}, id });
type System = Extract<OutputFrame, { type: 'system' }>;
const isSystem =
  <Subtype extends System['subtype']>(subtype: Subtype) =>
  (frame: OutputFrame): frame is Extract<System, { subtype: Subtype }> =>
    frame.type === 'system' && frame.subtype === subtype;
const texts = (frames: readonly OutputFrame[], type: 'user' | 'assistant'): readonly string[] =>
  frames.flatMap((frame) =>
    frame.type === type ? frame.message.content.flatMap((block) => (block.type === 'text' ? [block.text] : [])) : [],
  );

test('the frames of a turn: init first, blocks of one type, results in the order of the calls, one result last [G8.2][G8.5]', async () => {
  await open([
    { thought: 'Two at once.', text: 'I look twice.', toolCalls: [list('c1'), { ...list('c2'), arguments: { path: 'nowhere' } }] },
    { text: ['Nothing ', 'there.'] },
  ]);
  const { frames, result } = await headless.play('-p', 'Look.');
  const told = frames.map((frame) => {
    if (frame.type === 'system') return frame.subtype;
    if (frame.type !== 'user' && frame.type !== 'assistant') return frame.type;
    return `${frame.type}: ${frame.message.content.map((block) => ('tool_use_id' in block ? `${block.tool_use_id} ${block.status}` : block.type)).join(', ')}`;
  });
  expect(told).toEqual([
    'init',
    'user: text',
    'assistant: thinking',
    'assistant: text',
    'assistant: tool_use, tool_use',
    'user: c1 succeeded, c2 failed',
    'assistant: text',
    'turn_end',
    'result',
  ]);
  expect(result).toMatchObject({ result: 'Nothing there.', num_turns: 2, stop_reason: 'completed', raw_finish_reason: 'stop' });
  expect(result.usage.input_tokens).toBeGreaterThan(0);
});

test('partial messages come as they come; an attempt that is abandoned says so, and is no part of the messages [G8.13]', async () => {
  await open(({ index }) => (index === 0 ? { text: ['Hal', 'f'], faults: [{ kind: 'drop', afterChunks: 2 }] } : { text: 'Whole.' }));
  const { frames } = await headless.play('-p', 'Go.', '--include-partial-messages');
  const events = frames.flatMap((frame) => {
    if (frame.type === 'stream_event') return ['text' in frame.event ? frame.event.text : frame.event.type];
    return isSystem('retry')(frame) ? ['retry'] : [];
  });
  expect(events.join(' ')).toMatch(/^Hal f attempt_abandoned retry Whole\.$/);
  expect(texts(frames, 'assistant')).toEqual(['Whole.']);
});

test('text that nothing followed is told as incomplete, and is no success', async () => {
  await open(() => ({ text: 'Half', faults: [{ kind: 'drop', afterChunks: 1 }] }));
  const { frames, result } = await headless.play('-p', 'Go.');
  expect(frames.filter(({ type }) => type === 'assistant')).toMatchObject([{ incomplete: true, message: { content: [{ text: 'Half' }] } }]);
  expect(result).toMatchObject({ subtype: 'error_during_execution', exit_code: 1 });
});

test('messages that come together are prompts of their own, in order; the one past the cap is no success [G8.31][G8.39]', async () => {
  await open(scriptByPrompt(['One', 'Two', 'Three'].map((prompt) => ({ prompt, steps: [{ text: `${prompt}!` }] }))));
  const run = headless.start(...FRAMED, '--max-turns', '2');
  run.send(says('One'), says('Two'), says('Three'), says('Four'));
  run.endInput();
  const { frames, result, code } = await run.ended;
  expect(texts(frames, 'assistant')).toEqual(['One!', 'Two!']);
  expect(texts(frames, 'user')).toEqual(['One', 'Two', 'Three']);
  expect(frames.filter(isSystem('turn_end')).map(({ stop_reason }) => stop_reason)).toEqual(['completed', 'completed', 'turn_cap']);
  expect([result.subtype, result.undelivered, code]).toEqual(['error_max_turns', 1, 53]);
});

test('a message that comes while a tool runs joins its results; one that comes too late is the next prompt; each once [G8.33]', async () => {
  let release = (): void => undefined;
  const held = new Promise<void>((resolve) => (release = resolve));
  await open(({ messages }) => {
    const last = messages.at(-1)?.text ?? '';
    if (messages.length === 1) return { toolCalls: [{ name: 'run_command', arguments: { command: 'read x < pipe' }, id: 'c1' }] };
    if (last.includes('Join')) return { text: ['Joined', '.'], faults: [{ kind: 'hold', until: held, afterChunks: 1 }] };
    return { text: 'Late.' };
  });
  execSync('mkfifo pipe', { cwd: headless.folder });
  const run = headless.start(...FRAMED, '--include-partial-messages', '--mode', 'full_access');
  run.send(says('Start.'));
  await run.frame((frame): frame is OutputFrame => frame.type === 'stream_event' && frame.event.type === 'tool_started');
  run.send(says('Join.'), controls('mode', { subtype: 'set_permission_mode', mode: 'full_access' }));
  await run.frame((frame): frame is OutputFrame => frame.type === 'control_response');
  execSync('echo go > pipe', { cwd: headless.folder });
  await run.frame((frame): frame is OutputFrame => frame.type === 'stream_event' && 'text' in frame.event && frame.event.text === 'Joined');
  run.send(says('Too late.'), controls('again', { subtype: 'continue_last_turn' }));
  await run.frame((frame): frame is OutputFrame => frame.type === 'control_response' && frame.response.request_id === 'again');
  release();
  run.endInput();
  const { frames, result } = await run.ended;
  expect(texts(frames, 'user')).toEqual(['Start.', 'Join.', 'Too late.']);
  expect(texts(frames, 'assistant')).toEqual(['Joined.', 'Late.']);
  expect(
    headless
      .requests()
      .at(-1)
      ?.filter(({ role }) => role === 'user'),
  ).toHaveLength(3);
  expect([result.result, result.undelivered]).toEqual(['Late.', 0]);
  expect(frames).toContainEqual({
    type: 'control_response',
    response: { subtype: 'error', request_id: 'again', error: 'A turn is running, or a message waits.' },
  });
});

test('a line that is no frame is told with its number, nothing else is lost, and the run is no success', async () => {
  await open(scriptByPrompt(['One', 'Two'].map((prompt) => ({ prompt, steps: [{ text: `${prompt}!` }] }))));
  const run = headless.start(...FRAMED);
  run.send(says('One'), '{"type": "user"', { type: 'user', message: { role: 'user', content: '' } }, '', says('Two'));
  // The last line has no end.
  run.endInput(JSON.stringify({ type: 'control_response', response: { subtype: 'error', request_id: 'none', error: 'x' } }));
  const { frames, result, code } = await run.ended;
  expect(frames.filter(isSystem('input_error')).map(({ line }) => line)).toEqual([2, 3, 6]);
  expect(texts(frames, 'assistant')).toEqual(['One!', 'Two!']);
  expect([result.subtype, result.result, code]).toEqual(['error_input', 'Two!', 2]);
  expect(result.error?.message).toContain('Line 2');
});

test('a failed prompt makes the run fail, although the next one succeeds; tried anew with success it does not [G8.40]', async () => {
  let broken = true;
  await open(({ messages }) => {
    if (broken && messages.at(-1)?.text === 'One') return { faults: [{ kind: 'status', status: 400 }] };
    return { text: `${messages.at(-1)?.text}!` };
  });
  const both = headless.start(...FRAMED);
  both.send(says('One'), says('Two'));
  both.endInput();
  const failed = await both.ended;
  expect([failed.result.subtype, failed.code, texts(failed.frames, 'assistant')]).toEqual(['error_during_execution', 1, ['Two!']]);

  const run = headless.start(...FRAMED);
  run.send(says('One'));
  await run.frame(isSystem('turn_end'));
  broken = false;
  run.send(controls('again', { subtype: 'continue_last_turn' }));
  run.endInput();
  const { frames, result, code } = await run.ended;
  expect([texts(frames, 'user'), texts(frames, 'assistant')]).toEqual([['One'], ['One!']]);
  expect([result.subtype, code]).toEqual(['success', 0]);
});
