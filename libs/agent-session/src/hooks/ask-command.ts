import type { Hook } from '@echelon/contracts';
import { runProgram, type ProgramOutcome } from '@echelon/workspace-tools';
import { ANSWER_BYTES, type HookReply, type HookRequest } from './hook-reply.js';

/** A command that ends with this code blocks, with what it wrote to its error stream as the reason. */
const BLOCKS = 2;
const SHOWN_CHARACTERS = 500;

export async function askCommand(hook: Hook & { readonly command: string | readonly string[] }, request: HookRequest): Promise<HookReply> {
  const { input, folder, timeoutMs, signal } = request;
  const argv = typeof hook.command === 'string' ? ['/bin/sh', '-c', hook.command] : hook.command;
  try {
    const run = { argv, cwd: folder, input, variables: hook.env ?? [], timeoutMs, outputBytes: ANSWER_BYTES, signal };
    return toReply(await runProgram(run), timeoutMs);
  } catch (error) {
    return { failure: `it could not be started: ${error instanceof Error ? error.message : String(error)}` };
  }
}

function toReply({ stopped, exitCode, signal, stdout, stderr }: ProgramOutcome, timeoutMs: number): HookReply {
  const said = stderr.trim();
  if (stopped !== null) return { failure: describeStop(stopped, timeoutMs) };
  if (exitCode === 0) return { text: stdout };
  if (exitCode === BLOCKS) return said === '' ? { failure: 'it blocked with exit code 2 and gave no reason' } : { block: said };
  const end = signal === null ? `it ended with exit code ${exitCode}` : `it was ended by ${signal}`;
  return { failure: said === '' ? end : `${end}: ${said.slice(0, SHOWN_CHARACTERS)}` };
}

function describeStop(stopped: NonNullable<ProgramOutcome['stopped']>, timeoutMs: number): string {
  switch (stopped) {
    case 'timed_out':
      return `it did not end within ${timeoutMs / 1_000} s`;
    case 'flooded':
      return `it printed more than ${ANSWER_BYTES} bytes`;
    case 'cancelled':
      return 'it was cancelled';
    case 'unguarded':
      return 'its guard process was killed';
  }
}
