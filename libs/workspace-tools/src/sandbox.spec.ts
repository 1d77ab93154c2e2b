import { existsSync } from 'node:fs';
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { startProgram } from '@echelon/testkit';
import { parseMounts, readOnlyOptions } from './mounts.js';
import { describeSandbox } from './sandbox.js';
import { createTestWorkspace, type TestWorkspace } from './test-workspace.js';

const { kind, detail } = await describeSandbox();

let workspace: TestWorkspace;
beforeEach(async () => {
  workspace = await createTestWorkspace({ command: { sandbox: 'required' } });
});
afterEach(async () => await workspace[Symbol.asyncDispose]());

async function run(command: string): Promise<string> {
  return (await workspace.call('run_command', { command })).text;
}

if (kind === 'none') process.stderr.write(`skipped: specs of the command sandbox (${detail})\n`);
else describe('a sandboxed command', specifySandbox);

function specifySandbox(): void {
  test('writes in its task folder and nowhere else [O6]', async () => {
    const neighbour = join(process.cwd(), 'written-by-a-sandboxed-command');
    const text = await run(`echo a > inside; for f in ${neighbour} /etc/x /usr/x /var/x; do echo b > $f; done; ls`);
    // A checkout below /tmp is not even there for the command, whose /tmp is its own.
    expect(text.match(/Read-only file system|nonexistent|No such file or directory/g)).toHaveLength(4);
    expect(existsSync(neighbour)).toBe(false);
    expect(await readdir(workspace.root)).toEqual(['inside']);
  });

  test('cannot lift what holds it, although it may be root in there', async () => {
    const text = await run(
      'mount -o remount,bind,rw /; mount -o remount,rw /; umount /; umount -l /tmp; echo b > /etc/x; unshare -Ur mount -o remount,bind,rw /',
    );
    expect(text).toContain('/etc/x: Read-only file system');
    expect(await run('[ -w /etc/hosts ] && echo writable')).toContain('[exit code 1]');
  });

  test('has temporary folders of its own, empty and gone afterwards', async () => {
    expect(await run('find /tmp -type f | wc -l; echo a > /tmp/x; echo c > /dev/shm/x; cat /tmp/x')).toBe('0\na\n[exit code 0]');
    expect(await run('ls /tmp/x')).toContain('No such file');
  });

  test('does not see other processes, so not the environment of this one either', async () => {
    expect(await run(`cat /proc/${process.pid}/environ`)).toContain('No such file');
    expect(Number((await run('ls -d /proc/[0-9]* | wc -l')).split('\n')[0])).toBeLessThan(10);
  });

  test('does not see the folders that the deployment hides, nor the neighbours of its task folder', async () => {
    await using hiding = await createTestWorkspace({ command: { sandbox: 'required', hiddenFolders: ['/usr/share'] } });
    const { text } = await hiding.call('run_command', { command: 'ls /usr/share; ls ..; ls ../outside' });
    expect(text).toMatch(/^task\nls: .*No such file or directory\n\[exit code 2\]$/);
  });

  test('uses devices as before', async () => {
    expect(await run('echo x > /dev/null && head -c 4 /dev/urandom | wc -c')).toBe('4\n[exit code 0]');
  });
}

test('the machine is described in one sentence for doctor', () => {
  expect(detail).toMatch(/^Commands run .*\.$/);
});

test('where the machine has no sandbox, doctor says so [O6]', async () => {
  const doctor = startProgram('apps/cli/bin/echelon.mjs', {
    args: ['doctor', '--json'],
    env: { PATH: '/nowhere', ECHELON_DATA_DIR: workspace.outside },
  });
  await doctor.exited;
  expect(doctor.output()).toContain('Commands run without a sandbox (unshare of util-linux is not installed)');
});

test('of the mount table only what a path can reach counts', () => {
  const table = [
    '21 26 0:20 / /proc rw,nosuid - proc proc rw',
    '23 26 0:6 / /dev rw - devtmpfs devtmpfs rw',
    '24 23 0:22 / /dev/shm rw - tmpfs tmpfs rw',
    '26 1 254:0 / / rw,relatime - ext4 /dev/vda rw',
    '29 24 0:26 / /dev/shm rw,nosuid - tmpfs tmpfs rw',
    '30 26 0:27 / /data/hidden rw - tmpfs tmpfs rw',
    '31 26 0:28 / /data rw - tmpfs tmpfs rw',
    '32 31 0:29 / /data/with\\040blank ro - tmpfs tmpfs rw',
    '',
  ].join('\n');
  expect(parseMounts(table).map(({ point, options }) => `${point} ${options}`)).toEqual([
    '/proc rw,nosuid',
    '/dev rw',
    '/ rw,relatime',
    '/dev/shm rw,nosuid',
    '/data rw',
    '/data/with blank ro',
  ]);
});

test('a mount is made read-only without losing its other options', () => {
  const mount = { id: '1', parent: '0', point: '/', options: 'rw,nosuid,nodev' };
  expect(readOnlyOptions(mount)).toBe('ro,nosuid,nodev');
});
