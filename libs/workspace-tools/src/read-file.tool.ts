import { z } from 'zod';
import type { ToolDefinition, ToolResult } from '@echelon/agent-loop';
import { confine, openConfinedFile } from './confinement.js';
import { readLines, type FileLines } from './file-lines.js';
import { WORKSPACE_LIMITS } from './limits.js';
import { answer, failed, succeeded } from './refusal.js';
import type { WorkspaceContext } from './workspace-context.js';

const ReadFileInput = z.strictObject({
  path: z.string().min(1).describe('File to read, relative to the task folder.'),
  offset: z.int().min(1).default(1).describe('First line to return, counted from 1.'),
  limit: z.int().min(1).max(WORKSPACE_LIMITS.pageLines).default(WORKSPACE_LIMITS.pageLines).describe('Number of lines to return at most.'),
});

/** `read_file`: a page of numbered lines of a text file. */
export function readFileTool<Context extends WorkspaceContext>(): ToolDefinition<typeof ReadFileInput, Context> {
  return {
    name: 'read_file',
    title: 'Read file',
    description:
      'Reads a text file of the task folder. Use it before editing a file, and instead of cat, head or tail. ' +
      'Returns numbered lines ("number, tab, text"; the number is not part of the file) and says at the end whether lines remain and ' +
      'with which offset to go on. Long lines are cut. Binary files are refused.',
    input: ReadFileInput,
    effect: 'read',
    concurrencySafe: true,
    idempotent: true,
    execute: ({ path, offset, limit }, { context, signal }) =>
      answer(signal, async () => {
        const target = await confine(context.workspace.root, path);
        await using handle = await openConfinedFile(target);
        return present(await readLines(handle, { shown: target.shown, offset, limit, signal }), target.shown, offset);
      }),
  };
}

function present(file: FileLines, shown: string, offset: number): ToolResult {
  const structured = { path: shown, first_line: offset, lines: file.lines.length, total_lines: file.totalLines, next_offset: file.next };
  if (file.totalLines === 0) return succeeded(`${shown} is empty.`, structured);
  if (file.lines.length === 0) {
    const reason =
      file.totalLines === null ? 'lies too deep in the file to be reached' : `is past the end: it has ${file.totalLines} lines`;
    return failed(`Line ${offset} of ${shown} ${reason}.`, structured);
  }
  const numbered = file.lines.map((line, index) => `${offset + index}\t${line}`);
  return succeeded([...numbered, '', ...notes(file, offset)].join('\n'), structured);
}

function notes(file: FileLines, offset: number): string[] {
  const last = offset + file.lines.length - 1;
  const total = file.totalLines === null ? 'more' : String(file.totalLines);
  return [
    `[lines ${offset}-${last} of ${total}${file.next === null ? '' : `; continue with offset ${file.next}`}]`,
    ...(file.carriageReturns ? ['[lines end with CRLF; edit_file keeps that]'] : []),
    ...(file.damaged ? ['[some bytes are not valid UTF-8 and are shown as U+FFFD]'] : []),
  ];
}
