import { expect, test } from '@jest/globals';
import { splitCommand } from './split-command.js';

test.each([
  ['git status', ['git status']],
  ['  git   add . && git commit -m "a && b; c" | cat', ['git add .', 'git commit -m "a && b; c"', 'cat']],
  ['/bin/rm -rf x; ./a "b" c=d ifx', ['/bin/rm -rf x', './a "b" c=d ifx']],
  ["echo 'x|y';ls || true\npwd", ["echo 'x|y'", 'ls', 'true', 'pwd']],
])('%j is made of %j', (command, commands) => {
  expect(splitCommand(command)).toEqual(commands);
});

test.each(['a $(b)', 'a `b`', 'a > b', 'a < b', '(a; b)', '{ a; }', String.raw`a \; b`, 'a & b', 'a # b', '"$HOME/a"', '"a', '', ' ; '])(
  '%j is not taken apart',
  (command) => {
    expect(splitCommand(command)).toBeNull();
  },
);

test.each([
  '"rm" -rf x',
  "r''m x",
  'FOO=1 rm x',
  '! rm x',
  'ls; if true; then rm x; fi',
  'while true; do rm x; done',
  'time rm x',
  '/bin/r? x',
])('%j does not say which program it runs', (command) => {
  expect(splitCommand(command)).toBeNull();
});
