import type { ToolResult } from '@echelon/agent-loop';

/** An expected failure inside a workspace tool; its message is written for the model and names no path outside the task folder. */
export class Refusal extends Error {}

export function succeeded(text: string, structured: Readonly<Record<string, unknown>>): ToolResult {
  return { text, isError: false, structured };
}

export function failed(text: string, structured?: Readonly<Record<string, unknown>>): ToolResult {
  return structured === undefined ? { text, isError: true } : { text, isError: true, structured };
}

/** Runs one call: a refusal, a cancel and an error of the operating system become error results, anything else is a fault and is thrown (T1). */
export async function answer(signal: AbortSignal, run: () => Promise<ToolResult>): Promise<ToolResult> {
  try {
    signal.throwIfAborted();
    return await run();
  } catch (error) {
    if (signal.aborted) return failed('The call was cancelled.');
    if (error instanceof Refusal) return failed(error.message);
    if (isSystemError(error)) return failed(describe(error));
    throw error;
  }
}

interface SystemError {
  readonly code: string;
}

/** By its shape, not its class: an error of Node's may come from another realm. */
function isSystemError(error: unknown): error is SystemError {
  return typeof error === 'object' && error !== null && 'syscall' in error && 'code' in error && typeof error.code === 'string';
}

/** True when `error` is a system error with one of `codes`. */
export function hasCode(error: unknown, ...codes: readonly string[]): boolean {
  return isSystemError(error) && codes.includes(error.code);
}

const SYSTEM_ERRORS: Readonly<Record<string, string>> = {
  ENOENT: 'The file or folder does not exist (it may have just been removed).',
  EACCES: 'Permission denied.',
  EPERM: 'The operating system does not permit this.',
  EISDIR: 'This is a folder, not a file.',
  ENOTDIR: 'A part of the path is a file, not a folder.',
  ENAMETOOLONG: 'The path is too long.',
  ELOOP: 'The path leads through a symbolic link that may not be followed.',
  ENOSPC: 'The disk is full.',
  EDQUOT: 'The disk quota is used up.',
  EROFS: 'The file system is read-only.',
  EMFILE: 'Too many files are open; try again.',
  ENFILE: 'Too many files are open; try again.',
  ETXTBSY: 'The file is a program that is running.',
};

/** The messages of Node name absolute paths, so only the code is used. */
function describe(error: SystemError): string {
  return SYSTEM_ERRORS[error.code] ?? `The operating system refused: ${error.code}.`;
}
