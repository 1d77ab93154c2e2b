import { execFileSync } from 'node:child_process';
import { mkdir, readdir, readFile, rename, rm, symlink } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { writeAtomically } from './atomic-write.js';
import { confine, openConfinedFile } from './confinement.js';
import { createTestWorkspace, SECRET, type TestWorkspace } from './test-workspace.js';

let workspace: TestWorkspace;
beforeEach(async () => {
  workspace = await createTestWorkspace();
});
afterEach(async () => await workspace[Symbol.asyncDispose]());

const attacks: readonly (readonly [string, (workspace: TestWorkspace) => Promise<string>])[] = [
  ['parent folders', () => Promise.resolve('../outside/secret.txt')],
  ['parent folders behind a folder that exists', () => Promise.resolve('src/../../outside/secret.txt')],
  ['parent folders behind a folder that does not exist', () => Promise.resolve('none/../../outside/secret.txt')],
  ['an absolute path', ({ outside }) => Promise.resolve(join(outside, 'secret.txt'))],
  ['an absolute path whose beginning is the task folder', ({ root }) => Promise.resolve(`${root}/../outside/secret.txt`)],
  ['a folder whose name begins like the task folder', ({ root }) => Promise.resolve(`${root}-two/secret.txt`)],
  ['a link to a file', async ({ root, outside }) => await link(root, join(outside, 'secret.txt'), 'link.txt')],
  ['a link to a folder', async ({ root, outside }) => join(await link(root, outside, 'link'), 'secret.txt')],
  ['a relative link', async ({ root }) => await link(root, '../outside/secret.txt', 'link.txt')],
  ['a link to a link', async ({ root, outside }) => await link(root, await link(root, join(outside, 'secret.txt'), 'one'), 'two')],
  ['a link to a folder, with a file that does not exist', async ({ root, outside }) => join(await link(root, outside, 'link'), 'new.txt')],
  ['a link whose target does not exist', async ({ root, outside }) => await link(root, join(outside, 'new.txt'), 'link.txt')],
  ['a link to the root of the file system', async ({ root, outside }) => join(await link(root, '/', 'link'), outside, 'secret.txt')],
  ['a link to the process file system', async ({ root }) => join(await link(root, '/proc/self', 'link'), 'environ')],
  ['a NUL byte', () => Promise.resolve('file.txt\0/../../outside/secret.txt')],
];

async function link(root: string, target: string, name: string): Promise<string> {
  await symlink(target, join(root, name));
  return name;
}

describe.each(attacks)('a way out by %s', (_, prepare) => {
  test.each(['read_file', 'write_file', 'edit_file', 'list_files', 'search_files', 'run_command'])(
    'is refused by %s, which names no target',
    async (tool) => {
      await mkdir(join(workspace.root, 'src'));
      const path = await prepare(workspace);
      const result = await workspace.call(tool, inputOf(tool, path));
      expect(result.isError).toBe(true);
      expect(result.text).not.toContain(SECRET);
      if (!path.includes(workspace.outside) && !path.startsWith(workspace.root)) expect(result.text).not.toContain(workspace.outside);
      expect(await readdir(workspace.outside)).toEqual(['secret.txt']);
      expect(await readFile(join(workspace.outside, 'secret.txt'), 'utf8')).toBe(SECRET);
    },
  );
});

function inputOf(tool: string, path: string): Record<string, unknown> {
  switch (tool) {
    case 'write_file':
      return { path, content: 'overwritten' };
    case 'edit_file':
      return { path, old_string: 'neighbour', new_string: 'overwritten' };
    case 'search_files':
      return { path, pattern: 'neighbour' };
    case 'run_command':
      return { command: 'pwd', working_folder: path };
    default:
      return { path };
  }
}

describe('a name swapped for a link after it was checked', () => {
  test('is not followed when it is a file that is read', async () => {
    await workspace.put('file.txt', 'inside');
    const target = await confine(workspace.root, 'file.txt');
    await rm(target.real);
    await symlink(join(workspace.outside, 'secret.txt'), target.real);
    await expect(openConfinedFile(target)).rejects.toThrow('ELOOP');
  });

  test('is not followed when it is a folder on the way to a file that is read', async () => {
    await workspace.put('folder/secret.txt', 'inside');
    const target = await confine(workspace.root, 'folder/secret.txt');
    await swapForLink('folder');
    await expect(openConfinedFile(target)).rejects.toThrow('left the task folder');
  });

  test('is not written through when it is a folder on the way', async () => {
    await workspace.put('folder/secret.txt', 'inside');
    const target = await confine(workspace.root, 'folder/secret.txt');
    await swapForLink('folder');
    await expect(writeAtomically(target, 'overwritten')).rejects.toThrow();
    expect(await readFile(join(workspace.outside, 'secret.txt'), 'utf8')).toBe(SECRET);
  });

  test('is not written through when it is a folder above one that has to be made', async () => {
    await mkdir(join(workspace.root, 'folder'));
    const target = await confine(workspace.root, 'folder/new/file.txt');
    await swapForLink('folder');
    await expect(writeAtomically(target, 'overwritten')).rejects.toThrow();
    expect(await readdir(workspace.outside)).toEqual(['secret.txt']);
  });

  test('is replaced, and its target left alone, when it is the file that is written', async () => {
    await workspace.put('file.txt', 'inside');
    const target = await confine(workspace.root, 'file.txt');
    await rm(target.real);
    await symlink(join(workspace.outside, 'secret.txt'), target.real);
    await writeAtomically(target, 'new');
    expect(await readFile(join(workspace.outside, 'secret.txt'), 'utf8')).toBe(SECRET);
    expect(await workspace.read('file.txt')).toBe('new');
  });

  async function swapForLink(name: string): Promise<void> {
    await rename(join(workspace.root, name), join(workspace.root, `${name}-before`));
    await symlink(workspace.outside, join(workspace.root, name));
  }
});

describe('inside the task folder', () => {
  test('an absolute path and a path with detours are accepted and shown relative', async () => {
    await workspace.put('src/a.ts', 'text');
    const absolute = await workspace.call('read_file', { path: join(workspace.root, 'src/a.ts') });
    const detour = await workspace.call('read_file', { path: './src/../src/./a.ts' });
    expect([absolute.structured?.['path'], detour.structured?.['path']]).toEqual(['src/a.ts', 'src/a.ts']);
  });

  test('a link that stays inside is followed, and a write keeps it', async () => {
    await workspace.put('src/a.ts', 'text');
    await symlink('src/a.ts', join(workspace.root, 'link.ts'));
    const result = await workspace.call('write_file', { path: 'link.ts', content: 'new' });
    expect(result).toMatchObject({ isError: false, structured: { path: 'src/a.ts', change: 'replaced' } });
    expect(await workspace.read('src/a.ts')).toBe('new');
  });

  test('a task folder that is itself reached through a link works', async () => {
    await workspace.put('a.txt', 'text');
    const alias = join(workspace.outside, '..', 'alias');
    await symlink(workspace.root, alias);
    expect(await confine(alias, join(alias, 'a.txt'))).toMatchObject({ real: join(workspace.root, 'a.txt'), shown: 'a.txt' });
    expect(await confine(alias, join(workspace.root, 'a.txt'))).toMatchObject({ shown: 'a.txt' });
  });

  test('links in a circle are refused', async () => {
    await symlink('two', join(workspace.root, 'one'));
    await symlink('one', join(workspace.root, 'two'));
    expect((await workspace.call('read_file', { path: 'one' })).text).toContain('circle');
  });

  test('a named pipe is refused at once instead of waited for', async () => {
    execFileSync('mkfifo', [join(workspace.root, 'pipe')]);
    const read = await workspace.call('read_file', { path: 'pipe' });
    const write = await workspace.call('write_file', { path: 'pipe', content: 'x' });
    expect([read.text, write.text]).toEqual(['pipe is not a regular file.', 'pipe is not a regular file.']);
  });

  test('a task folder that does not exist is a clear error result', async () => {
    await rm(workspace.root, { recursive: true });
    expect((await workspace.call('list_files', {})).text).toContain('The task folder does not exist');
  });
});
