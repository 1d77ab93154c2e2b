/** Scenarios of a tool batch: what runs, what does not, and what the model is told. */
import type { Scenario } from '../scenario.js';
import { call, read, run, say, write } from './replies.js';

const A = { 'a.txt': 'one\ntwo\n' };
const DONE = say('Done.');

export const BATCHES: readonly Scenario[] = [
  {
    row: 'G8.5',
    name: 'parallel reads',
    files: { ...A, 'b.txt': 'b', 'c.txt': 'c' },
    replies: [call(read('r1'), read('r2', 'b.txt'), read('r3', 'c.txt')), DONE],
  },
  {
    row: 'G8.6',
    name: 'mixed safe and unsafe',
    files: A,
    replies: [call(read('r1'), write('w1'), read('r2', 'b.txt'), run('c1', 'cat b.txt >> a.txt'), run('c2', 'cat a.txt')), DONE],
  },
  { row: 'G8.7', name: 'approval allowed', mode: 'ask', replies: [call(write('w1')), DONE] },
  { row: 'G8.7', name: 'approval denied', mode: 'ask', answers: { write_file: 'deny' }, replies: [call(write('w1')), DONE] },
  {
    row: 'G8.8',
    name: 'several approvals in a batch',
    mode: 'ask',
    files: A,
    answers: { run_command: 'deny', write_file: 'always' },
    replies: [call(read('r1'), write('w1'), run('c1', 'touch made'), write('w2', 'c.txt')), DONE],
  },
  {
    row: 'G8.7',
    name: 'a plan changes nothing',
    mode: 'plan',
    files: A,
    replies: [call(write('w1'), read('r1'), run('c1', 'cat a.txt')), DONE],
  },
  {
    row: 'G8.22',
    name: 'replay once',
    files: A,
    replies: [call(write('w1')), call(write('w1')), DONE],
  },
  { row: 'G8.22', name: 'replay twice', files: A, replies: [call(write('w1'))] },
  { row: 'G8.22', name: 'same id with other arguments', replies: [call(write('w1')), call(write('w1', 'c.txt', 'c')), DONE] },
  { row: 'G8.22', name: 'the same call twice in a response', replies: [call(write('w1'), write('w1')), DONE] },
  { row: 'G8.22', name: 'missing ids', files: A, replies: [call(read(''), write('')), call(read('')), DONE] },
  { row: 'G8.23', name: 'unknown tool', replies: [call({ name: 'read_fil', arguments: { path: 'a.txt' }, id: 'u1' }), DONE] },
  {
    row: 'G8.24',
    name: 'invalid arguments three times',
    replies: [1, 2, 3].map((at) => call({ name: 'read_file', arguments: { file: 'a.txt' }, id: `i${at}` })).concat([DONE]),
  },
  {
    row: 'G8.25',
    name: 'loop of identical calls',
    files: A,
    replies: Array.from({ length: 8 }, (_, at) => call(read(`r${at}`))).concat([DONE]),
  },
  {
    row: 'G8.26',
    name: 'alternating calls are no loop',
    files: { ...A, 'b.txt': 'b' },
    replies: Array.from({ length: 6 }, (_, at) => call(read(`r${at}`, at % 2 ? 'b.txt' : 'a.txt'))).concat([DONE]),
  },
  {
    row: 'G8.30',
    name: 'launch budget, parallel edge',
    launches: 2,
    files: A,
    replies: [call(read('r1'), read('r2', 'b.txt'), read('r3', 'c.txt')), DONE],
  },
  { row: 'G8.30', name: 'launch budget, sequential edge', launches: 1, replies: [call(write('w1')), call(write('w2', 'c.txt')), DONE] },
  {
    row: 'G8.30',
    name: 'launch budget, refused before launch',
    launches: 1,
    replies: [call({ name: 'write_file', arguments: {}, id: 'w1' }), call(write('w2')), call(write('w3', 'c.txt')), DONE],
  },
  {
    row: 'G8.30',
    name: 'launch budget with approval',
    mode: 'ask',
    launches: 1,
    replies: [call(write('w1'), write('w2', 'c.txt')), DONE],
  },
  {
    row: 'G8.36',
    name: 'huge outputs within the batch budget',
    replies: [call(...Array.from({ length: 3 }, (_, at) => run(`c${at}`, `seq ${at} 30000`))), DONE],
  },
  {
    row: 'G8.32',
    name: 'structured output with sibling',
    files: A,
    resultSchema: { type: 'object', properties: { answer: { type: 'string' } }, required: ['answer'], additionalProperties: false },
    replies: [call(read('r1'), { name: 'structured_output', arguments: { answer: '42' }, id: 's1' })],
  },
];
