import { mkdtemp, readFile, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import { waitFor } from '@echelon/testkit';
import { runProgram, type ProgramOutcome, type ProgramRequest } from '@echelon/workspace-tools';

let folder: string;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'echelon-program-'));
});
afterAll(() => rm(folder, { recursive: true }));
afterEach(() => {
  delete process.env.PROGRAM_SECRET;
});

function shell(script: string, given: Partial<ProgramRequest> = {}): Promise<ProgramOutcome> {
  const { signal } = new AbortController();
  const limits = { timeoutMs: 60_000, outputBytes: 1_000 };
  return runProgram({ argv: ['/bin/sh', '-c', script], cwd: folder, input: '', variables: [], ...limits, signal, ...given });
}

/** Whether a process runs whose command line holds the word. */
async function runs(word: string): Promise<boolean> {
  const pids = (await readdir('/proc')).filter((name) => /^\d+$/.test(name));
  const lines = await Promise.all(pids.map((pid) => readFile(`/proc/${pid}/cmdline`, 'latin1').catch(() => '')));
  return lines.some((line) => line.includes(word));
}

describe('a program', () => {
  test('reads its input; its streams are kept apart', async () => {
    const outcome = await shell('cat; echo warned >&2; exit 3', { input: '{"a":"ä"}' });
    expect(outcome).toEqual({ stdout: '{"a":"ä"}', stderr: 'warned\n', stopped: null, exitCode: 3, signal: null });
  });

  test('may leave a large input unread', async () => {
    expect(await shell('echo done', { input: 'x'.repeat(2_000_000) })).toMatchObject({ stdout: 'done\n', exitCode: 0 });
  });

  test('sees no variables of this process but the common ones and those that are named', async () => {
    process.env.PROGRAM_SECRET = 'top';
    expect((await shell('echo "$PROGRAM_SECRET $HOME"')).stdout).toBe(` ${process.env.HOME}\n`);
    expect((await shell('echo "$PROGRAM_SECRET"', { variables: ['PROGRAM_SECRET', 'ABSENT'] })).stdout).toBe('top\n');
  });

  test('gets its arguments as they are', async () => {
    expect((await shell('', { argv: ['printf', '%s|', '$HOME', '*', 'a b'] })).stdout).toBe('$HOME|*|a b|');
  });

  test('is ended when it prints too much, and what it had printed until then is known', async () => {
    const outcome = await shell('yes');
    expect(outcome).toMatchObject({ stopped: 'flooded' });
    expect(outcome.stdout.length).toBeLessThanOrEqual(1_000);
  });

  test('is ended at its time limit, with all that it started', async () => {
    const outcome = await shell('sh -c "sleep 611" & setsid sleep 612 & sleep 613', { timeoutMs: 200 });
    expect(outcome).toMatchObject({ stopped: 'timed_out' });
    expect([await runs('sleep\x00611'), await runs('sleep\x00612'), await runs('sleep\x00613')]).toEqual([false, false, false]);
  });

  test('is ended when it is cancelled', async () => {
    const cancel = new AbortController();
    const outcome = shell('sleep 614', { signal: cancel.signal });
    await waitFor('the program runs', () => runs('sleep\x00614'));
    cancel.abort();
    expect(await outcome).toMatchObject({ stopped: 'cancelled' });
    expect(await runs('sleep\x00614')).toBe(false);
  });

  test('that cannot be started says so by its exit code, or where its folder is gone by a rejection', async () => {
    expect(await shell('', { argv: ['./absent'] })).toMatchObject({ exitCode: 127 });
    await expect(shell('', { cwd: join(folder, 'absent') })).rejects.toThrow('ENOENT');
  });
});
