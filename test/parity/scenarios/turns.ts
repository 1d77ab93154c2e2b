/** Scenarios of a whole turn: cancel, hooks, caps, what is said meanwhile, and death. */
import type { Scenario } from '../scenario.js';
import { call, read, run, say, write } from './replies.js';

const A = { 'a.txt': 'one\ntwo\n' };
const DONE = say('Done.');
const BLOCK = `echo '{"decision":"block","reason":"Check once more."}'`;

export const TURNS: readonly Scenario[] = [
  {
    row: 'G8.9',
    name: 'cancel during stream',
    cancel: { request: 1 },
    replies: [{ text: ['Half ', 'a text.'], faults: [{ kind: 'silence', afterChunks: 1 }] }],
  },
  {
    row: 'G8.10',
    name: 'cancel during a tool',
    cancel: { once: 'started' },
    replies: [call(run('c1', 'touch started; sleep 60'), write('w1')), DONE],
  },
  {
    row: 'G8.11',
    name: 'cancel between stream end and batch',
    cancel: { once: 'deciding' },
    hooks: { before_tool: [{ matcher: 'write_file', command: 'touch deciding; sleep 60' }] },
    replies: [call(write('w1')), DONE],
  },
  {
    row: 'G8.28',
    name: 'stop hook blocks once',
    hooks: { stop: [{ command: `test -f asked || { touch asked; ${BLOCK}; }` }] },
    replies: [say('Done?'), DONE],
  },
  { row: 'G8.28', name: 'stop hook blocks to the cap', hooks: { stop: [{ command: BLOCK }] }, replies: [say('Done.')] },
  { row: 'G8.41', name: 'prompt blocked', hooks: { prompt_submit: [{ command: BLOCK }] }, replies: [DONE] },
  {
    row: 'G8.41',
    name: 'prompt blocked after tools',
    files: A,
    hooks: { prompt_submit: [{ matcher: 'tool_result', command: BLOCK }] },
    replies: [call(read('r1')), DONE],
  },
  {
    row: 'G5.15',
    name: 'hooks around a tool',
    files: A,
    hooks: {
      before_tool: [{ matcher: 'write_file', command: `echo '{"input":{"path":"c.txt","content":"hooked"}}'` }],
      after_batch: [{ command: `echo '{"additional_context":"The batch was seen."}'` }],
    },
    replies: [call(read('r1'), write('w1')), DONE],
  },
  {
    row: 'G8.31',
    name: 'turn cap across two messages',
    turnCap: 1,
    prompts: ['One.', 'Two.'],
    replies: [say('The first.'), say('The second.')],
  },
  {
    row: 'G8.42',
    name: 'tokens spent',
    tokens: 1_000,
    files: A,
    replies: [{ ...call(read('r1')), usage: { inputTokens: 900, outputTokens: 200 } }, DONE],
  },
  {
    row: 'G8.33',
    name: 'said while a tool runs',
    input: { once: 'started', text: 'Take c.txt as well.' },
    replies: [call(run('c1', 'touch started; while [ ! -f said ]; do sleep 0.05; done; rm said')), DONE],
  },
  {
    row: 'G8.38',
    name: 'killed while the model answers',
    files: A,
    kill: { request: 2 },
    replies: [call(read('r1'), write('w1')), { text: 'Never.', faults: [{ kind: 'silence', afterChunks: 1 }] }, DONE],
  },
  {
    row: 'G8.43',
    name: 'unfinished list of steps',
    replies: [
      call({ name: 'update_todos', arguments: { todos: [{ content: 'Write it.', status: 'pending' }] }, id: 't1' }),
      say('One.'),
      say('Two.'),
      say('Three.'),
    ],
  },
];
