/** Scenarios of one model round: how a response comes, and how it may fail. */
import { isFallback } from '../parity-model.js';
import type { Scenario } from '../scenario.js';
import { call, fail, read, say, write } from './replies.js';

const A = { 'a.txt': 'one\ntwo\n' };
const DONE = say('Done.');
const pages = (round: number) =>
  [0, 1, 2, 3].map((at) => ({
    name: 'read_file',
    arguments: { path: 'long.txt', offset: 1 + 400 * (4 * round + at), limit: 400 },
    id: `p${round}${at}`,
  }));

export const ROUNDS: readonly Scenario[] = [
  { row: 'G8.1', name: 'plain text', replies: [say('Hello.')] },
  { row: 'G8.2', name: 'text with thought', replies: [{ thought: ['Hm, ', 'well.'], text: ['Hel', 'lo.'] }] },
  { row: 'G8.3', name: 'one tool', files: A, replies: [call(read('r1')), DONE] },
  { row: 'G8.4', name: 'text plus call', files: A, replies: [{ ...call(read('r1')), text: 'I look.' }, DONE] },
  {
    row: 'G8.12',
    name: 'drop before output',
    replies: [{ text: 'Never.', faults: [{ kind: 'drop' }] }, say('Hello.')],
  },
  {
    row: 'G8.13',
    name: 'drop after text',
    replies: [{ text: ['Half ', 'a text.'], faults: [{ kind: 'drop', afterChunks: 1 }] }, say('A whole text.')],
  },
  {
    row: 'G8.14',
    name: 'drop after a call chunk',
    files: A,
    replies: [{ ...call(write('w1')), faults: [{ kind: 'drop', afterChunks: 1 }] }, call(read('r1')), DONE],
  },
  { row: 'G8.15', name: 'retry', replies: [fail(503), say('Hello.')] },
  {
    row: 'G8.16',
    name: 'fallback',
    fallback: true,
    replies: [({ model }) => (isFallback(model) ? say('From the second.') : fail(503))],
  },
  { row: 'G8.17', name: '429 with Retry-After', replies: [fail(429, { 'retry-after': '1' }), say('Hello.')] },
  {
    row: 'G8.18',
    name: 'output limit with text',
    replies: [{ text: 'The first part,', finish: 'length' }, say(' and the second.')],
  },
  { row: 'G8.18', name: 'output limit with calls', files: A, replies: [{ ...call(write('w1')), finish: 'length' }, DONE] },
  {
    row: 'G8.18',
    name: 'output limit behind tool_calls',
    files: A,
    replies: [call({ name: 'read_file', arguments: '{"path": "a.t', id: 'r1' }), DONE],
  },
  {
    row: 'G8.19',
    name: 'cut-off edit',
    files: A,
    replies: [call({ name: 'edit_file', arguments: '{"path": "a.txt", "old_string": "one", "new_string": "on', id: 'e1' }), DONE],
  },
  {
    row: 'G8.20',
    name: 'malformed format once',
    replies: [{ text: 'call:(', finish: { raw: 'MALFORMED_FUNCTION_CALL' } }, say('Hello.')],
  },
  {
    row: 'G8.20',
    name: 'malformed format twice',
    replies: [{ text: 'call:(', finish: { raw: 'MALFORMED_FUNCTION_CALL' } }],
  },
  { row: 'G8.21', name: 'empty response once', replies: [{}, say('Hello.')] },
  { row: 'G8.21', name: 'empty response after tools', files: A, replies: [call(read('r1')), {}] },
  { row: 'G8.21', name: 'thought only', replies: [{ thought: 'Hm.' }] },
  { row: 'G8.21', name: 'white space', replies: [say('  \n')] },
  { row: 'G8.40', name: 'model error', replies: [fail(400)] },
  { row: 'G8.40', name: 'retry after a model error', replies: [fail(400), say('Hello.')], retries: 1 },
  { row: 'G8.40', name: 'retry that fails again', replies: [fail(400), fail(400), say('Hello.')], retries: 2 },
  {
    row: 'G8.39',
    name: 'two prompts in one session',
    files: A,
    prompts: ['Read.', 'Again.'],
    replies: [call(read('r1')), DONE, say('Still two lines.')],
  },
  {
    row: 'G8.37',
    name: 'compaction in mid-run',
    contextWindow: 115_000,
    files: { 'long.txt': Array.from({ length: 8_000 }, (_, at) => `line ${at} of a text that fills the whole window`).join('\n') },
    // No usage is told, so that what counts is an estimate of the history, which is the same on every surface.
    replies: [...Array.from({ length: 5 }, (_, at) => ({ ...call(...pages(at)), usage: null })), say('A summary of it.'), DONE],
  },
];
