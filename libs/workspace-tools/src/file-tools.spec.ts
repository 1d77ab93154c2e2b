import { chmod, link, readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { WORKSPACE_LIMITS } from './index.js';
import { createTestWorkspace, type TestWorkspace } from './test-workspace.js';

let workspace: TestWorkspace;
beforeEach(async () => {
  workspace = await createTestWorkspace();
});
afterEach(async () => await workspace[Symbol.asyncDispose]());

describe('read_file', () => {
  test('returns numbered lines and says that the file ends', async () => {
    await workspace.put('a.txt', 'one\ntwo\n');
    expect(await workspace.call('read_file', { path: 'a.txt' })).toEqual({
      text: '1\tone\n2\ttwo\n\n[lines 1-2 of 2]',
      isError: false,
      structured: { path: 'a.txt', first_line: 1, lines: 2, total_lines: 2, next_offset: null },
    });
  });

  test('pages through a file without loss, whatever the page size', async () => {
    const lines = Array.from({ length: 57 }, (_, index) => `line ${index}`);
    await workspace.put('a.txt', lines.join('\n'));
    const seen: string[] = [];
    for (let offset: unknown = 1; offset !== null;) {
      const { text, structured } = await workspace.call('read_file', { path: 'a.txt', offset, limit: 10 });
      seen.push(...[...text.matchAll(/^\d+\t(.*)$/gm)].map(([, line]) => line ?? ''));
      offset = structured?.['next_offset'];
    }
    expect(seen).toEqual(lines);
  });

  test('ends a page before the size at which the loop would cut a result, and names the next offset', async () => {
    await workspace.put('a.txt', `${'x'.repeat(500)}\n`.repeat(200));
    const { text, structured } = await workspace.call('read_file', { path: 'a.txt' });
    expect(text.length).toBeLessThan(25_000);
    expect(structured).toMatchObject({ total_lines: 200, next_offset: Number(structured?.['lines']) + 1 });
  });

  test('cuts a long line without cutting a character', async () => {
    await workspace.put('a.txt', '😀'.repeat(50_000));
    const { text } = await workspace.call('read_file', { path: 'a.txt' });
    expect(text.isWellFormed()).toBe(true);
    expect(text).toContain('😀 […line is longer]');
  });

  test('reads a page from the end of a file of several hundred megabytes', async () => {
    const file = join(workspace.root, 'huge.txt');
    await workspace.call('run_command', { command: 'yes 0123456789abcde | head -c 209715200 > huge.txt' });
    expect((await stat(file)).size).toBe(209_715_200);
    const { text, isError } = await workspace.call('read_file', { path: 'huge.txt', offset: 13_107_199, limit: 10 });
    expect({ text, isError }).toEqual({
      text: '13107199\t0123456789abcde\n13107200\t0123456789abcde\n\n[lines 13107199-13107200 of 13107200]',
      isError: false,
    });
    const head = await workspace.call('read_file', { path: 'huge.txt', limit: 1 });
    expect(head.structured).toMatchObject({ total_lines: null, next_offset: 2 });
  });

  test('shows CRLF files without the carriage returns and says so', async () => {
    await workspace.put('a.txt', 'one\r\ntwo\r\n');
    const { text } = await workspace.call('read_file', { path: 'a.txt' });
    expect(text).toBe('1\tone\n2\ttwo\n\n[lines 1-2 of 2]\n[lines end with CRLF; edit_file keeps that]');
  });

  test('shows invalid UTF-8 as replacement characters and says so', async () => {
    await workspace.put('a.txt', Uint8Array.of(0x61, 0xff, 0x62, 0x0a));
    expect((await workspace.call('read_file', { path: 'a.txt' })).text).toContain('1\ta\uFFFDb\n\n[lines 1-1 of 1]\n[some bytes');
  });

  test.each([
    ['a binary file', Uint8Array.of(0x89, 0x50, 0, 1), 'is a binary file (4 bytes)'],
    ['UTF-16 text', Uint8Array.of(0xff, 0xfe, 0x61, 0), 'is UTF-16 text'],
  ])('refuses %s', async (_, content, reason) => {
    await workspace.put('file', content);
    const result = await workspace.call('read_file', { path: 'file' });
    expect(result.isError).toBe(true);
    expect(result.text).toContain(reason);
  });

  test('says of an empty file, a missing file, a folder and a line past the end what they are', async () => {
    await workspace.put('folder/empty', '');
    await workspace.put('short', 'one\n');
    const texts = [];
    for (const input of [
      { path: 'folder/empty' },
      { path: 'none' },
      { path: 'folder' },
      { path: 'short', offset: 3 },
      { path: 'short/below' },
    ]) {
      texts.push((await workspace.call('read_file', input)).text);
    }
    expect(texts).toEqual([
      'folder/empty is empty.',
      'none does not exist.',
      'folder is a folder, not a file.',
      'Line 3 of short is past the end: it has 1 lines.',
      'A part of the path short/below is a file, not a folder.',
    ]);
  });
});

describe('write_file', () => {
  test('creates a file with its folders, then replaces it', async () => {
    const created = await workspace.call('write_file', { path: 'a/b/c.txt', content: 'é\n' });
    const replaced = await workspace.call('write_file', { path: 'a/b/c.txt', content: 'two' });
    expect([created.text, replaced.text]).toEqual(['a/b/c.txt was created (3 bytes).', 'a/b/c.txt was replaced (3 bytes).']);
    expect(await workspace.read('a/b/c.txt')).toBe('two');
    expect(await readdir(join(workspace.root, 'a/b'))).toEqual(['c.txt']);
  });

  test('keeps the permissions of a file that it replaces', async () => {
    await workspace.put('run.sh', 'old');
    await chmod(join(workspace.root, 'run.sh'), 0o750);
    await workspace.call('write_file', { path: 'run.sh', content: 'new' });
    expect((await stat(join(workspace.root, 'run.sh'))).mode & 0o777).toBe(0o750);
  });

  test('does not write through a hard link', async () => {
    await link(join(workspace.outside, 'secret.txt'), join(workspace.root, 'linked.txt'));
    const before = await stat(join(workspace.outside, 'secret.txt'));
    await workspace.call('write_file', { path: 'linked.txt', content: 'new' });
    expect((await stat(join(workspace.outside, 'secret.txt'))).size).toBe(before.size);
  });

  test('refuses a folder and the task folder itself', async () => {
    await workspace.put('folder/file', '');
    const texts = await Promise.all(['folder', '.'].map(async (path) => (await workspace.call('write_file', { path, content: '' })).text));
    expect(texts).toEqual(['folder is a folder, not a file.', '. is a folder, not a file.']);
  });

  test('many writes of one file at once leave one of the contents whole, and nothing else', async () => {
    const contents = Array.from({ length: 8 }, (_, index) => String(index).repeat(300_000));
    await Promise.all(contents.map(async (content) => await workspace.call('write_file', { path: 'a.txt', content })));
    expect(contents).toContain(await workspace.read('a.txt'));
    expect(await readdir(workspace.root)).toEqual(['a.txt']);
  });
});

describe('edit_file', () => {
  test('replaces the only occurrence and shows the lines around it', async () => {
    await workspace.put('a.ts', 'one\ntwo\nthree\nfour\nfive\nsix\n');
    const result = await workspace.call('edit_file', { path: 'a.ts', old_string: 'two\nthree', new_string: 'TWO' });
    expect(result.text).toBe('a.ts was edited in 1 place.\n1\tone\n2\tTWO\n3\tfour\n4\tfive\n5\tsix');
    expect(await workspace.read('a.ts')).toBe('one\nTWO\nfour\nfive\nsix\n');
  });

  test('takes replacement patterns of the language literally', async () => {
    await workspace.put('a.ts', 'x = 1;');
    await workspace.call('edit_file', { path: 'a.ts', old_string: '1', new_string: "$& $1 $' $$" });
    expect(await workspace.read('a.ts')).toBe("x = $& $1 $' $$;");
  });

  test('replaces every occurrence when asked to', async () => {
    await workspace.put('a.ts', 'a b a b a');
    const result = await workspace.call('edit_file', { path: 'a.ts', old_string: 'a', new_string: 'aa', replace_all: true });
    expect(result.structured).toMatchObject({ replacements: 3 });
    expect(await workspace.read('a.ts')).toBe('aa b aa b aa');
  });

  test('keeps CRLF line ends, whichever ends the model wrote', async () => {
    await workspace.put('a.txt', 'one\r\ntwo\r\nthree\r\n');
    await workspace.call('edit_file', { path: 'a.txt', old_string: 'one\ntwo', new_string: '1\n2' });
    await workspace.call('edit_file', { path: 'a.txt', old_string: 'three', new_string: '3\n4' });
    expect(await workspace.read('a.txt')).toBe('1\r\n2\r\n3\r\n4\r\n');
  });

  test('keeps a byte order mark, and finds text beyond the first plane', async () => {
    await workspace.put('a.txt', '\uFEFFnaïve 👩‍👩‍👧 日本');
    await workspace.call('edit_file', { path: 'a.txt', old_string: '👩‍👩‍👧', new_string: '🚀' });
    expect(await workspace.read('a.txt')).toBe('\uFEFFnaïve 🚀 日本');
  });

  test.each([
    ['an occurrence that is not there', 'a\n', 'b', 'was not found in f. Read the file'],
    ['two occurrences', 'a\nb\na\n', 'a', 'occurs 2 times in f, first at lines 1, 3.'],
    ['two occurrences that overlap', 'aaa', 'aa', 'occurs 2 times in f'],
    ['text that differs only in indentation', 'x\n\tif (a) {\n\t}\n', '  if (a) {\n  }', 'line 2 differs from it only in whitespace'],
    ['a replacement by the same text', 'a', 'X', 'are the same'],
    ['a binary file', 'a\0b', 'a', 'is a binary file'],
    ['a file that is not valid UTF-8', Uint8Array.of(0x61, 0xff), 'a', 'is not valid UTF-8'],
  ])('refuses %s and leaves the file alone', async (_, content, old_string, reason) => {
    await workspace.put('f', content);
    const before = await workspace.read('f');
    const result = await workspace.call('edit_file', { path: 'f', old_string, new_string: 'X' });
    expect(result.isError).toBe(true);
    expect(result.text).toContain(reason);
    expect(await workspace.read('f')).toBe(before);
  });

  test('refuses a result that would not fit, instead of exhausting memory', async () => {
    await workspace.put('f', 'a'.repeat(100_000));
    const input = { path: 'f', old_string: 'a', new_string: 'b'.repeat(10_000), replace_all: true };
    expect((await workspace.call('edit_file', input)).text).toContain('would grow beyond');
  });

  test('refuses a file that is too large to load', async () => {
    await workspace.call('run_command', { command: `truncate -s ${WORKSPACE_LIMITS.editFileBytes + 1} f` });
    expect((await workspace.call('edit_file', { path: 'f', old_string: 'a', new_string: 'b' })).text).toContain('cannot be edited here');
  });
});

describe('every tool', () => {
  test('refuses unknown arguments', () => {
    for (const name of ['read_file', 'write_file', 'edit_file', 'list_files', 'search_files', 'run_command']) {
      const known = { path: 'a', content: '', old_string: 'a', new_string: 'b', pattern: 'x', command: 'ls' };
      expect(workspace.tool(name).input.safeParse({ ...known, unknown: 1 }).success).toBe(false);
    }
  });

  test('declares its effect, and only readers are safe beside others and safe to repeat', () => {
    const facts = ['read_file', 'write_file', 'edit_file', 'list_files', 'search_files', 'run_command'].map((name) => {
      const { effect, concurrencySafe, idempotent } = workspace.tool(name);
      return [name, effect, typeof concurrencySafe === 'function' ? 'judged' : concurrencySafe, idempotent];
    });
    expect(facts).toEqual([
      ['read_file', 'read', true, true],
      ['write_file', 'write', false, false],
      ['edit_file', 'write', false, false],
      ['list_files', 'read', true, true],
      ['search_files', 'read', true, true],
      ['run_command', 'execute', 'judged', false],
    ]);
  });

  test('returns an error result when it was cancelled before it began', async () => {
    const result = await workspace.call('write_file', { path: 'a', content: '' }, { signal: AbortSignal.abort() });
    expect(result).toEqual({ text: 'The call was cancelled.', isError: true });
    expect(await readdir(workspace.root)).toEqual([]);
  });
});
