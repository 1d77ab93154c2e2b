import { afterEach, expect, test } from '@jest/globals';
import type { AgentScript } from '@echelon/scripted-model';
import { AgentSession } from '@echelon/agent-session';
import { Chat } from './chat.js';
import { ChatStage, type StageOptions } from '../../../../test/support/chat-stage.js';

let stage: ChatStage;
const open = async (script: AgentScript, options?: StageOptions): Promise<ChatStage> => (stage = await ChatStage.open(script, options));
afterEach(() => stage.close());

const run = (command: string, id: string) => ({ name: 'run_command', arguments: { command }, id });
const write = (name: string, id: string) => ({ name: 'write_file', arguments: { path: name, content: name }, id });
const WAITS = 'echo it waits; until test -e go; do sleep 0.05; done';
/** What the person said, in the requests that the model got. */
const heard = (at: number): readonly string[] =>
  ((stage.sessions.requests()[at] ?? []) as { role: string; content: string }[])
    .filter(({ role }) => role === 'user')
    .map(({ content }) => content);

test('text, thought and calls are shown in their order, live while they come and for good once they are accepted', async () => {
  const go = Promise.withResolvers<void>();
  await open([
    {
      thought: 'Hm.',
      text: ['I look', ' there.'],
      toolCalls: [run('echo out', 'c1')],
      faults: [{ kind: 'hold', until: go.promise, afterChunks: 2 }],
    },
    { text: 'Seen.' },
  ]);
  stage.send('Look.');
  await stage.until(() => stage.chat.transcript.live.text !== '');
  expect(stage.chat.transcript.live).toMatchObject({ thought: 'Hm.', text: 'I look' });
  expect(stage.story).toEqual(['prompt: Look.']);
  go.resolve();
  await stage.rest();
  expect(stage.story).toEqual([
    'prompt: Look.',
    'thought: Hm.',
    'text: I look there.',
    'Run echo out: succeeded',
    'text: Seen.',
    'end: completed',
  ]);
  expect(stage.chat.transcript.live).toEqual({ thought: '', text: '', calls: [] });
});

test('an abandoned attempt leaves nothing but the news of it', async () => {
  await open((request) =>
    request.index === 0 ? { text: ['Half of', ' it'], faults: [{ kind: 'drop', afterChunks: 1 }] } : { text: 'All of it.' },
  );
  stage.send('Say it.');
  await stage.rest();
  expect(stage.story).toEqual([
    'prompt: Say it.',
    expect.stringMatching(/^notice: The response broke off.*it is sent again/),
    'text: All of it.',
    'end: completed',
  ]);
});

test('output of a command is shown while it runs', async () => {
  await open([{ toolCalls: [run(WAITS, 'c1')] }, { text: 'Done.' }]);
  stage.send('Wait.');
  await stage.until(() => stage.chat.transcript.live.calls[0]?.output.includes('it waits') === true);
  expect(stage.chat.transcript.live.calls).toMatchObject([{ callId: 'c1', state: 'running' }]);
  stage.put('go');
  await stage.rest();
});

test('what is said while tools run joins the turn behind their results, exactly once [G2.7]', async () => {
  await open([{ toolCalls: [run(WAITS, 'c1')] }, { text: 'Both.' }]);
  stage.send('Wait.');
  await stage.until(() => stage.chat.transcript.live.calls[0]?.state === 'running');
  stage.send('And this.');
  stage.send('That, too.');
  expect(stage.chat.pending.map(({ kind }) => kind)).toEqual(['input', 'input']);
  stage.put('go');
  await stage.rest();
  expect(stage.sessions.requests().length).toBe(2);
  expect(heard(1)).toEqual(['Wait.', 'And this.', 'That, too.']);
  expect(stage.story.slice(2)).toEqual(['input: And this.', 'input: That, too.', 'text: Both.', 'end: completed']);
  expect(stage.chat.pending).toEqual([]);
});

test('what found no tool boundary opens the next turns, one message a turn [G2.7]', async () => {
  const go = Promise.withResolvers<void>();
  await open((request) =>
    request.index === 0
      ? { text: ['So', ' be it.'], faults: [{ kind: 'hold', until: go.promise, afterChunks: 1 }] }
      : { text: `Answer ${request.index}.` },
  );
  stage.send('First.');
  await stage.until(() => stage.chat.transcript.live.text !== '');
  stage.send('Second.');
  stage.send('Third.');
  go.resolve();
  await stage.rest();
  expect(stage.story).toEqual([
    ...['prompt: First.', 'text: So be it.', 'end: completed'],
    ...['prompt: Second.', 'text: Answer 1.', 'end: completed'],
    ...['prompt: Third.', 'text: Answer 2.', 'end: completed'],
  ]);
});

test('a Lead joins the turn even where it would have ended', async () => {
  const go = Promise.withResolvers<void>();
  await open([{ text: ['So', ' be it.'], faults: [{ kind: 'hold', until: go.promise, afterChunks: 1 }] }, { text: 'Shorter.' }]);
  stage.send('Say it.');
  await stage.until(() => stage.chat.transcript.live.text !== '');
  stage.type('Be short.');
  stage.control('l');
  go.resolve();
  await stage.rest();
  expect(heard(1)).toEqual(['Say it.', 'Be short.']);
  expect(stage.story).toEqual(['prompt: Say it.', 'text: So be it.', 'lead: Be short.', 'text: Shorter.', 'end: completed']);
});

test('a stop ends the running command, says so, gives back what waited, and runs nothing of it', async () => {
  await open([{ toolCalls: [run(`${WAITS}; touch late`, 'c1'), write('never.txt', 'c2')] }, { text: 'Next.' }]);
  stage.send('Wait.');
  await stage.until(() => stage.chat.transcript.live.calls[0]?.output.includes('it waits') === true);
  stage.send('One.');
  stage.type('/lead Two.');
  stage.press('return');
  stage.type('Three.');
  stage.press('escape');
  expect(stage.input.draft.text).toBe('One.\n/lead Two.\nThree.');
  await stage.rest();
  expect(stage.story.slice(1)).toEqual([expect.stringMatching(/: cancelled$/), 'Write never.txt: not_executed', 'end: cancelled']);
  expect([stage.chat.pending, stage.sessions.requests().length, stage.has('never.txt')]).toEqual([[], 1, false]);
});

test('calls of a batch are asked one after the other before any runs; a denial is told with its reason', async () => {
  await open([{ toolCalls: [write('a.txt', 'c1'), run('touch b', 'c2')] }, { text: 'Done.' }], { settings: { mode: 'ask' } });
  stage.send('Write.');
  await stage.until(() => stage.chat.approval?.request.callId === 'c1');
  stage.type('y');
  await stage.until(() => stage.chat.approval?.request.callId === 'c2');
  expect(stage.has('a.txt')).toBe(false);
  stage.type('n');
  stage.send('not now');
  await stage.rest();
  expect([stage.has('a.txt'), stage.has('b')]).toEqual([true, false]);
  expect(JSON.stringify(stage.sessions.requests()[1])).toContain('Their reason: not now');
  expect(stage.story.slice(1)).toEqual([
    'asked: Write a.txt',
    'asked: Run touch b',
    'Write a.txt: succeeded',
    'Run touch b: denied',
    'text: Done.',
    'end: completed',
  ]);
  expect(stage.items('asked').map(({ details }) => details)).toEqual(['+ a.txt', 'touch b']);
});

test('"always" covers the calls like it, in this batch and later', async () => {
  await open([{ toolCalls: [write('a.txt', 'c1'), write('b.txt', 'c2')] }, { toolCalls: [write('c.txt', 'c3')] }, { text: 'Done.' }], {
    settings: { mode: 'ask' },
  });
  stage.send('Write.');
  await stage.until(() => stage.chat.approval !== null);
  stage.type('a');
  await stage.rest();
  expect(stage.items('asked').length).toBe(1);
  expect(['a.txt', 'b.txt', 'c.txt'].every((file) => stage.has(file))).toBe(true);
});

test('a stop withdraws what is asked; nothing runs', async () => {
  await open([{ toolCalls: [write('a.txt', 'c1')] }], { settings: { mode: 'ask' } });
  stage.send('Write.');
  await stage.until(() => stage.chat.approval !== null);
  stage.press('escape');
  await stage.rest();
  expect([stage.chat.approval, stage.has('a.txt')]).toEqual([null, false]);
  expect(stage.story.slice(-2)).toEqual(['Write a.txt: not_executed', 'end: cancelled']);
});

test('a turn that failed says why, and /retry asks again [G3.7]', async () => {
  await open((request) => (request.index === 0 ? { faults: [{ kind: 'status', status: 400, body: 'no' }] } : { text: 'Now.' }));
  stage.send('Say it.');
  await stage.rest();
  expect(stage.items('end')).toMatchObject([{ reason: 'error', level: 'error', text: expect.stringContaining('The turn failed') }]);
  stage.send('/retry');
  await stage.rest();
  expect(stage.story.slice(-2)).toEqual(['text: Now.', 'end: completed']);
  expect(heard(1)).toEqual(['Say it.']);
});

test('a budget that trips is said, and each prompt has its own [G3.7]', async () => {
  await open([{ toolCalls: [write('a.txt', 'c1'), write('b.txt', 'c2')] }, { text: 'Done.' }], { limits: { budgets: { launches: 1 } } });
  stage.send('Write.');
  await stage.rest();
  expect(stage.items('end')).toMatchObject([{ reason: 'budget_exhausted', text: 'The budget of tool calls is spent.' }]);
});

test('a session that goes on shows what was, with the results of its calls', async () => {
  await open([{ thought: 'Hm.', text: 'I write.', toolCalls: [write('a.txt', 'c1')] }, { text: 'Written.' }]);
  stage.send('Write.');
  await stage.rest();
  const { sessions } = stage;
  const id = sessions.store.findLatest(sessions.folder)?.id ?? '';
  await stage.chat.leave();
  const session = await AgentSession.open(sessions.store, id, sessions.settings());
  const again = new Chat({ session, createSession: () => sessions.create(), forget: () => undefined, modelName: 'SCRIPTED', limits: {} });
  expect(again.transcript.items.slice(1).map((item) => [item.type, item.type === 'call' ? item.call.state : null])).toEqual([
    ['said', null],
    ['thought', null],
    ['text', null],
    ['call', 'succeeded'],
    ['text', null],
  ]);
  await again.leave();
});

test('/clear begins a session of its own; one in which nothing was said is forgotten', async () => {
  await open([{ text: 'One.' }]);
  stage.send('Say it.');
  await stage.rest();
  stage.send('/clear');
  stage.send('Say it.');
  await stage.rest();
  expect(heard(1)).toEqual(['Say it.']);
  stage.send('/clear');
  await stage.chat.leave();
  expect(stage.sessions.store.list({ limit: 9 }).items.map(({ title }) => title)).toEqual(['Say it.', 'Say it.']);
});

test('where the settings ask for it the likely next prompt is run ahead: Tab takes its words, and sending them takes it over', async () => {
  await open(
    ({ messages }) => {
      const said = messages.findLast(({ role }) => role === 'user')?.text ?? '';
      if (said.startsWith('Host note: the person has not said anything new')) return { text: 'Now write b.txt.' };
      if (messages.at(-1)?.role === 'tool') return { text: 'Written.' };
      return said.startsWith('Now write') ? { toolCalls: [write('b.txt', 'c2')] } : { text: 'Hello.' };
    },
    { settings: { speculate: true } },
  );
  stage.send('Hello.');
  await stage.until(() => stage.chat.suggestion !== null);
  expect([stage.has('b.txt'), stage.story.at(-1)]).toEqual([false, 'end: completed']);
  stage.press('tab');
  expect(stage.input.draft.text).toBe('Now write b.txt.');
  stage.press('return');
  await stage.rest();
  expect(stage.has('b.txt')).toBe(true);
  expect(stage.story.slice(3)).toEqual(['prompt: Now write b.txt.', 'Write b.txt: succeeded', 'text: Written.', 'end: completed']);
});

test('leaving while a turn runs ends it first', async () => {
  await open([{ toolCalls: [run(WAITS, 'c1')] }]);
  stage.send('Wait.');
  await stage.until(() => stage.chat.transcript.live.calls[0]?.output.includes('it waits') === true);
  stage.control('c');
  stage.control('c');
  await stage.chat.left;
  expect(stage.items('end')).toMatchObject([{ reason: 'cancelled' }]);
  expect([stage.chat.isRunning, stage.chat.isLeft]).toEqual([false, true]);
});
