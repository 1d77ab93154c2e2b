import { symlink } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { compileGlob } from './glob.js';
import { createTestWorkspace, type TestWorkspace } from './test-workspace.js';

let workspace: TestWorkspace;
beforeEach(async () => {
  workspace = await createTestWorkspace({ searchTimeoutMs: 3_000 });
  await workspace.put('src/a.ts', 'export const one = 1;\nconst two = 2;\n');
  await workspace.put('src/deep/b.ts', 'import { one } from "../a";\r\nconsole.log(one);\r\n');
  await workspace.put('src/deep/c.js', 'ONE');
  await workspace.put('node_modules/p/index.js', 'one');
  await workspace.put('.git/config', 'one');
  await workspace.put('image.png', Uint8Array.of(0x6f, 0x6e, 0x65, 0));
  await symlink(workspace.outside, join(workspace.root, 'link'));
});
afterEach(async () => await workspace[Symbol.asyncDispose]());

describe('list_files', () => {
  test('lists one folder, with folders and links marked', async () => {
    const { text } = await workspace.call('list_files', {});
    expect(text).toBe('.git/\nimage.png\nlink@\nnode_modules/\nsrc/\n\n[entries 1-5 of 5]');
  });

  test('lists a subfolder by paths from the task folder', async () => {
    expect((await workspace.call('list_files', { path: 'src/deep' })).structured?.['entries']).toEqual(['src/deep/b.ts', 'src/deep/c.js']);
  });

  test('finds files by glob below a folder, not in ignored folders and not through links', async () => {
    expect((await workspace.call('list_files', { glob: '*.{ts,js,txt}' })).structured?.['entries']).toEqual([
      'src/a.ts',
      'src/deep/b.ts',
      'src/deep/c.js',
    ]);
    expect((await workspace.call('list_files', { path: 'src', glob: 'deep/*.ts' })).structured?.['entries']).toEqual(['src/deep/b.ts']);
    expect((await workspace.call('list_files', { glob: '*.go' })).text).toBe('No file matches.');
  });

  test('lists an ignored folder that is named', async () => {
    expect((await workspace.call('list_files', { path: 'node_modules', glob: '*.js' })).structured?.['entries']).toEqual([
      'node_modules/p/index.js',
    ]);
  });

  test('pages without loss or repetition', async () => {
    const first = await workspace.call('list_files', { limit: 2 });
    const second = await workspace.call('list_files', { limit: 3, offset: 2 });
    expect(first.text).toContain('[entries 1-2 of 5; continue with offset 2]');
    expect(second.structured).toMatchObject({ entries: ['link@', 'node_modules/', 'src/'], next_offset: null });
    expect((await workspace.call('list_files', { offset: 5 })).isError).toBe(true);
  });
});

describe('search_files', () => {
  test('returns matching lines by file, with numbers and without carriage returns', async () => {
    const { text } = await workspace.call('search_files', { pattern: '\\bone\\b' });
    expect(text).toBe(
      [
        'src/a.ts',
        '  1: export const one = 1;',
        '',
        'src/deep/b.ts',
        '  1: import { one } from "../a";',
        '  2: console.log(one);',
        '',
        '[3 matching lines in 2 files]',
        '[1 files were skipped: binary, too large or unreadable]',
      ].join('\n'),
    );
  });

  test('honours include, path, case and literal', async () => {
    const found = async (input: Record<string, unknown>) => (await workspace.call('search_files', input)).structured?.['matches'];
    expect(await found({ pattern: 'one', include: '*.js' })).toBe(0);
    expect(await found({ pattern: 'one', include: 'src/**/*.js', case_sensitive: false })).toBe(1);
    expect(await found({ pattern: '(?i)^one$' })).toBe(1);
    expect(await found({ pattern: 'log(one)', literal: true, path: 'src' })).toBe(1);
    expect(await found({ pattern: 'LOG(', literal: true, case_sensitive: false })).toBe(1);
    expect(await found({ pattern: 'two', path: 'src/a.ts' })).toBe(1);
  });

  test('shows context lines marked as such', async () => {
    await workspace.put('n.txt', 'a\nb\nhit\nc\nhit\nd\ne\n');
    const { text } = await workspace.call('search_files', { pattern: 'hit', path: 'n.txt', context: 1 });
    expect(text).toContain('n.txt\n  2- b\n  3: hit\n  4- c\n  5: hit\n  6- d\n');
  });

  test('stops at its limit and says so', async () => {
    await workspace.put('many.txt', 'hit\n'.repeat(1_000));
    const { text, structured } = await workspace.call('search_files', { pattern: 'hit', limit: 20 });
    expect(structured).toMatchObject({ matches: 20, complete: false });
    expect(text).toContain('[limit reached');
  });

  test('cuts long lines around the match', async () => {
    await workspace.put('long.txt', `${'😀'.repeat(5_000)}needle${'😀'.repeat(5_000)}`);
    const { text } = await workspace.call('search_files', { pattern: 'needle' });
    expect(text).toContain('needle');
    expect(text.length).toBeLessThan(1_000);
    expect(text.isWellFormed()).toBe(true);
  });

  test('ends a pattern of exponential time at its time limit and keeps what was found before', async () => {
    await workspace.put('a-first.txt', 'aaaa!');
    await workspace.put('b-second.txt', `${'a'.repeat(60)}!b`);
    const { text, isError } = await workspace.call('search_files', { pattern: '^(a+)+!?$', include: '*.txt' });
    expect(isError).toBe(true);
    expect(text).toContain('a-first.txt\n  1: aaaa!');
    expect(text).toContain('[stopped after 3 s');
  });

  test('is ended by an abort in the middle of such a pattern', async () => {
    await workspace.put('a.txt', `${'a'.repeat(60)}!b`);
    const cancel = new AbortController();
    const call = workspace.call('search_files', { pattern: '^(a+)+$' }, { signal: cancel.signal });
    setImmediate(() => cancel.abort());
    expect(await call).toEqual({ text: 'The call was cancelled.', isError: true });
  });

  test('takes escapes that only other dialects need, and explains a pattern that is none', async () => {
    await workspace.put('dash.txt', 'a-b');
    expect((await workspace.call('search_files', { pattern: 'a\\-b' })).structured).toMatchObject({ matches: 1 });
    expect((await workspace.call('search_files', { pattern: 'a(' })).text).toMatch(/not a regular expression .*Set literal/);
  });
});

describe('a glob', () => {
  test.each([
    ['*.ts', 'src/a.ts', true],
    ['*.ts', 'src/a.tsx', false],
    ['src/*.ts', 'src/a.ts', true],
    ['src/*.ts', 'src/deep/a.ts', false],
    ['./src/*.ts', 'src/a.ts', true],
    ['src/**/*.ts', 'src/a.ts', true],
    ['src/**/*.ts', 'src/deep/er/a.ts', true],
    ['**/deep/**', 'src/deep/a.ts', true],
    ['**', 'src/a.ts', true],
    ['?.ts', 'ab.ts', false],
    ['?.ts', '😀.ts', true],
    ['[a-c].ts', 'b.ts', true],
    ['[!a-c].ts', 'b.ts', false],
    ['[]].ts', '].ts', true],
    ['[a.ts', '[a.ts', true],
    ['*.{test,spec}.{ts,js}', 'x.spec.js', true],
    ['{a,b{c,d}}.ts', 'bd.ts', true],
    ['{a}.ts', '{a}.ts', true],
    ['*a*b*c', 'xaybzc', true],
    ['*a*b*c', 'xaybz', false],
    ['.*', '.env', true],
    ['*', '.env', true],
  ])('%s against %s: %s', (glob, path, expected) => {
    expect(compileGlob(glob)(path)).toBe(expected);
  });

  test('with many wildcards ends at once on a name that does not match', () => {
    expect(compileGlob(`${'*a'.repeat(50)}b`)('a'.repeat(10_000))).toBe(false);
  });

  test('with more alternatives than anyone means is refused', () => {
    expect(() => compileGlob('{a,b}'.repeat(9))).toThrow('more than 256 alternatives');
  });
});
