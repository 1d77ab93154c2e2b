import { afterEach, expect, test } from '@jest/globals';
import type { AgentScript } from '@echelon/scripted-model';
import { ChatStage, type StageOptions } from '../../../../test/support/chat-stage.js';

let stage: ChatStage;
const open = async (script: AgentScript, options?: StageOptions): Promise<ChatStage> => (stage = await ChatStage.open(script, options));
afterEach(() => stage.close());

const ANSWERS: AgentScript = ({ index }) => ({ text: `Answer ${index}.` });
const WRITES: AgentScript = [
  { toolCalls: [{ name: 'write_file', arguments: { path: 'a.txt', content: 'a' }, id: 'c1' }] },
  { text: 'Done.' },
];
/** Speaks until the test lets it end. */
function holds(): { readonly script: AgentScript; readonly release: () => void } {
  const { promise, resolve } = Promise.withResolvers<void>();
  const script: AgentScript = ({ index }) =>
    index === 0 ? { text: ['So', ' it is.'], faults: [{ kind: 'hold', until: promise, afterChunks: 1 }] } : { text: 'Next.' };
  return { script, release: () => resolve() };
}
const draft = (): string => {
  const { text, at } = stage.input.draft;
  return `${text.slice(0, at)}|${text.slice(at)}`;
};

test('keys edit the line, by what a person sees as one character', async () => {
  await open(ANSWERS);
  stage.type('say thé 👩‍🚀');
  stage.press('backspace');
  expect(draft()).toBe('say thé |');
  stage.control('w');
  stage.type('it');
  stage.press('leftArrow');
  stage.press('delete');
  stage.type('n');
  expect(draft()).toBe('say in|');
  stage.control('a');
  stage.press('rightArrow');
  expect(draft()).toBe('s|ay in');
  stage.control('e');
  stage.input.press('', { return: true, meta: true });
  stage.type('two');
  stage.press('home');
  expect(draft()).toBe('say in\n|two');
  stage.control('e');
  stage.control('u');
  expect(draft()).toBe('say in\n|');
  stage.control('u');
  stage.press('tab');
  expect(draft()).toBe('say in\n|');
});

test('↑ on an empty line goes through what was said, ↓ comes back', async () => {
  await open(ANSWERS);
  for (const text of ['One.', 'Two.']) {
    stage.send(text);
    await stage.rest();
  }
  const seen = ['upArrow', 'upArrow', 'upArrow', 'downArrow', 'downArrow'].map((key) => {
    stage.press(key as 'upArrow' | 'downArrow');
    return draft();
  });
  expect(seen).toEqual(['Two.|', 'One.|', 'One.|', 'Two.|', '|']);
  stage.type('Th');
  stage.press('upArrow');
  expect(draft()).toBe('Th|');
});

test('↑ on an empty line takes back the last that waits, to be changed', async () => {
  const { script, release } = holds();
  await open(script);
  stage.send('Say it.');
  await stage.until(() => stage.chat.transcript.live.text !== '');
  stage.send('First.');
  stage.send('Second.');
  stage.press('upArrow');
  expect([draft(), stage.chat.pending.length]).toEqual(['Second.|', 1]);
  stage.control('u');
  stage.send('Other.');
  release();
  await stage.rest();
  expect(stage.items('said').map(({ text }) => text)).toEqual(['Say it.', 'First.', 'Other.']);
});

test('pasted lines stay one message, whatever they begin with', async () => {
  await open(ANSWERS);
  stage.input.paste('first\r\n/exit\rlast\t.');
  expect([draft(), stage.story]).toEqual(['first\n/exit\nlast\t.|', []]);
  stage.press('return');
  await stage.rest();
  expect(stage.sessions.requests()[0]).toEqual([{ role: 'user', content: 'first\n/exit\nlast\t.' }]);
});

test('lines that come at once without a mark of a paste are text, a line with its Enter is sent', async () => {
  await open(ANSWERS);
  stage.input.press('one\rtwo\r', {});
  expect(draft()).toBe('one\ntwo\n|');
  stage.control('c');
  stage.input.press('one\r', {});
  await stage.rest();
  expect(stage.story[0]).toBe('prompt: one');
});

test('a letter of a line that is being written allows nothing', async () => {
  await open(WRITES, { settings: { mode: 'ask' } });
  stage.send('Write.');
  stage.type('wh');
  await stage.until(() => stage.chat.approval !== null);
  stage.type('y');
  stage.input.paste('y');
  expect([draft(), stage.chat.approval?.request.callId]).toEqual(['whyy|', 'c1']);
  stage.press('return');
  stage.input.paste('y');
  expect([stage.chat.approval?.request.callId, stage.chat.pending.length]).toEqual(['c1', 1]);
  stage.press('backspace');
  stage.type('y');
  await stage.rest();
  expect(stage.has('a.txt')).toBe(true);
});

test('Esc while a reason is written goes back to the question', async () => {
  await open(WRITES, { settings: { mode: 'ask' } });
  stage.send('Write.');
  await stage.until(() => stage.chat.approval !== null);
  stage.type('n');
  stage.type('be');
  stage.press('escape');
  expect([stage.input.isDenying, draft(), stage.chat.approval?.request.callId]).toEqual([false, '|', 'c1']);
  stage.type('n');
  stage.press('return');
  await stage.rest();
  expect(JSON.stringify(stage.sessions.requests()[1])).toContain('The person declined this call.');
});

test('Ctrl-C clears the line, then asks, then leaves; another key between takes it back', async () => {
  await open(ANSWERS);
  stage.type('half');
  stage.control('c');
  expect([draft(), stage.chat.isLeft]).toEqual(['|', false]);
  stage.type('x');
  stage.press('backspace');
  stage.control('c');
  expect(stage.story).toEqual(['notice: Ctrl-C again leaves.']);
  stage.control('c');
  await stage.chat.left;
});

test('a line with a slash is a command; unknown ones stay to be mended, and a path is text', async () => {
  const { script, release } = holds();
  await open(script, { settings: { mode: 'ask' } });
  stage.send('/mood plan');
  expect([draft(), stage.story]).toEqual(['/mood plan|', ['notice: There is no /mood; /help lists what there is.']]);
  stage.control('u');
  stage.send('/mode plan');
  expect(stage.chat.mode).toBe('plan');
  stage.send('/mode odd');
  expect(stage.story.at(-1)).toContain('There are ask | accept_edits | plan | full_access');
  stage.send('/resume');
  await stage.rest();
  expect(stage.story.at(-1)).toContain('nothing to go on with');
  stage.send('/etc/hosts is what?');
  await stage.until(() => stage.chat.transcript.live.text !== '');
  stage.send('/clear');
  expect(stage.story.slice(-2)).toEqual(['prompt: /etc/hosts is what?', 'notice: A turn is running: stop it with Esc, then /clear.']);
  release();
  await stage.rest();
  stage.send('/help');
  expect(stage.story.at(-1)).toContain('/lead <text>');
});
