import { z } from 'zod';
import type { ToolDefinition, ToolResult } from '@echelon/agent-loop';
import { writeAtomically } from './atomic-write.js';
import { confine, openConfinedFile, type ConfinedPath } from './confinement.js';
import { WORKSPACE_LIMITS } from './limits.js';
import { Refusal, answer, succeeded } from './refusal.js';
import { replaceExactly, type ReplacementOutcome } from './replacement.js';
import { readWholeText } from './text-file.js';
import type { WorkspaceContext } from './workspace-context.js';

const EditFileInput = z.strictObject({
  path: z.string().min(1).describe('File to edit, relative to the task folder.'),
  old_string: z.string().min(1).describe('Text to replace, exactly as it stands in the file, without line numbers.'),
  new_string: z.string().max(WORKSPACE_LIMITS.writeCharacters).describe('Text to put in its place; empty to delete.'),
  replace_all: z.boolean().default(false).describe('Replace every occurrence; otherwise old_string must occur exactly once.'),
});
type EditFileInput = z.output<typeof EditFileInput>;

const CONTEXT_LINES = 3;
const PREVIEW_LINES = 40;

/** `edit_file`: one exact replacement in a text file, atomically. */
export function editFileTool<Context extends WorkspaceContext>(): ToolDefinition<typeof EditFileInput, Context> {
  return {
    name: 'edit_file',
    title: 'Edit file',
    description:
      'Replaces a piece of text in a file of the task folder. old_string must match the file exactly, with its indentation, and occur once: ' +
      'add surrounding lines to make it unique, or set replace_all. Read the file first. Returns the edited lines with their numbers; ' +
      'when nothing or several places match, the file is left alone and the error says where to look.',
    input: EditFileInput,
    effect: 'write',
    concurrencySafe: false,
    idempotent: false,
    execute: (input, { context, signal }) =>
      answer(signal, async () => await edit(await confine(context.workspace.root, input.path), input)),
  };
}

async function edit(target: ConfinedPath, input: EditFileInput): Promise<ToolResult> {
  const text = await readTarget(target);
  const asked = { oldText: input.old_string, newText: input.new_string, replaceAll: input.replace_all };
  const outcome = replaceExactly(text, asked);
  if (outcome.outcome !== 'replaced') throw new Refusal(explain(outcome, target.shown));
  await requireUnchanged(target);
  await writeAtomically(target, outcome.text);
  const preview = previewOf(outcome.text, outcome.firstLine, input.new_string.split('\n').length);
  const places = outcome.count === 1 ? '1 place' : `${outcome.count} places`;
  const structured = { path: target.shown, replacements: outcome.count, first_line: outcome.firstLine };
  return succeeded(`${target.shown} was edited in ${places}.\n${preview}`, structured);
}

async function readTarget(target: ConfinedPath): Promise<string> {
  await using handle = await openConfinedFile(target);
  return await readWholeText(handle, target.shown);
}

/** A command or another agent in the same folder may have written the file since it was read; its words are not overwritten. */
async function requireUnchanged(before: ConfinedPath): Promise<void> {
  const { stats } = await confine(before.root, before.real);
  const same = stats?.ino === before.stats?.ino && stats?.mtimeMs === before.stats?.mtimeMs && stats?.size === before.stats?.size;
  if (!same) throw new Refusal(`${before.shown} was changed by something else during the edit. Read it again, then repeat the edit.`);
}

function explain(outcome: Exclude<ReplacementOutcome, { outcome: 'replaced' }>, shown: string): string {
  switch (outcome.outcome) {
    case 'unchanged':
      return 'old_string and new_string are the same; there is nothing to change.';
    case 'not_found':
      return `old_string was not found in ${shown}. Read the file and copy the text exactly, without line numbers.`;
    case 'only_whitespace_differs':
      return `old_string was not found in ${shown}, but line ${outcome.line} differs from it only in whitespace. Copy the indentation exactly.`;
    case 'too_large':
      return `${shown} would grow beyond ${WORKSPACE_LIMITS.editFileBytes} bytes.`;
    case 'ambiguous':
      return `old_string occurs ${outcome.count} times in ${shown}, first at lines ${outcome.lines.join(', ')}. Add surrounding lines to make it unique, or set replace_all.`;
  }
}

function previewOf(text: string, firstLine: number, length: number): string {
  const lines = text.split('\n');
  const from = Math.max(0, firstLine - 1 - CONTEXT_LINES);
  const to = Math.min(lines.length, firstLine - 1 + length + CONTEXT_LINES, from + PREVIEW_LINES);
  return lines
    .slice(from, to)
    .map((line, index) => `${from + index + 1}\t${line.replace(/\r$/, '').slice(0, 500).toWellFormed()}`)
    .join('\n');
}
