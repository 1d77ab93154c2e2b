import { describe, expect, test } from '@jest/globals';
import { isReadOnlyCommand } from './index.js';

describe('judged read-only', () => {
  test.each([
    'ls',
    'ls -la src',
    '  pwd  ',
    'cat src/*.ts',
    "grep -rn 'a|b > c; $(d)' src",
    'grep "two words" file',
    'rg -n foo src',
    "rg --glob '*.ts' --files-with-matches foo",
    'head -20 a.txt',
    'cat a.txt | grep x | wc -l',
    "find . -name '*.ts' -type f -not -path './node_modules/*'",
    'sort -u names.txt | head -3',
    'diff -u a b',
  ])('%s', (command) => {
    expect(isReadOnlyCommand(command)).toBe(true);
  });
});

describe('not judged read-only', () => {
  test.each([
    '',
    '   ',
    'rm -rf x',
    'npm test',
    'ls; rm x',
    'ls && rm x',
    'ls || rm x',
    'ls & rm x',
    'ls\nrm x',
    'ls | xargs rm',
    'ls | tee out',
    'ls |',
    '| ls',
    'ls > out',
    'cat < in > out',
    'cat <(rm x)',
    'echo $(rm x)',
    'echo `rm x`',
    'echo "$(rm x)"',
    'echo "`rm x`"',
    'echo $HOME',
    'l\\s',
    'ls \\; rm x',
    'PATH=. ls',
    './ls',
    '/bin/ls',
    '"$x"',
    "'unterminated",
    '!ls',
    '{ ls; }',
    'cat {a,b}',
    'l* x',
    'find . -delete',
    'find . -exec rm x +',
    'find . -fprint out',
    'find *',
    'sort -o out in',
    'sort --output=out in',
    'sort *',
    'rg --pre ./program x',
    'rg --pre=./program x',
    'rg -z x',
    'git push',
    'git status',
    'git diff | head',
    'git',
    'constructor',
    'ls\u00a0x',
    'ls # x',
    'cat a\u0000b',
  ])('%j', (command) => {
    expect(isReadOnlyCommand(command)).toBe(false);
  });
});

test('a long command that nearly matches is judged at once', () => {
  expect(isReadOnlyCommand(`ls ${"'a'".repeat(9_000)}'`)).toBe(false);
});
