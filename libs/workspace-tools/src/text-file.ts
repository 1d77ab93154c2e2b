import type { FileHandle } from 'node:fs/promises';
import { WORKSPACE_LIMITS } from './limits.js';
import { Refusal } from './refusal.js';

const SAMPLE_BYTES = 8192;

/** What a file's first bytes say of it; text is UTF-8. */
type TextKind = 'text' | 'utf-16' | 'binary';

function judgeText(sample: Uint8Array): TextKind {
  const head = sample.subarray(0, SAMPLE_BYTES);
  if ((head[0] === 0xff && head[1] === 0xfe) || (head[0] === 0xfe && head[1] === 0xff)) return 'utf-16';
  return head.includes(0) ? 'binary' : 'text';
}

/** Refuses what is not UTF-8 text; `shown` is the path as the model knows it. */
export function requireText(sample: Uint8Array, shown: string, bytes: number): void {
  const kind = judgeText(sample);
  if (kind === 'binary') throw new Refusal(`${shown} is a binary file (${bytes} bytes); it cannot be shown or edited as text.`);
  if (kind === 'utf-16') throw new Refusal(`${shown} is UTF-16 text (${bytes} bytes); convert it to UTF-8 first, for example with iconv.`);
}

/**
 * Reads a whole UTF-8 file of at most `editFileBytes`, unchanged to the byte: a byte order mark stays in the text.
 * Text that is not valid UTF-8 is refused, because writing it back would damage it.
 */
export async function readWholeText(handle: FileHandle, shown: string): Promise<string> {
  const { size } = await handle.stat();
  if (size > WORKSPACE_LIMITS.editFileBytes) {
    throw new Refusal(`${shown} has ${size} bytes; files over ${WORKSPACE_LIMITS.editFileBytes} bytes cannot be edited here.`);
  }
  const bytes = await handle.readFile();
  requireText(bytes, shown, bytes.length);
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    throw new Refusal(`${shown} is not valid UTF-8, so an edit would damage it. Change it with a command instead.`);
  }
}
