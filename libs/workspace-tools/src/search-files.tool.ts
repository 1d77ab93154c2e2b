import { z } from 'zod';
import type { ToolDefinition, ToolResult } from '@echelon/agent-loop';
import { confine, type ConfinedPath } from './confinement.js';
import { compileGlob } from './glob.js';
import { WORKSPACE_LIMITS } from './limits.js';
import { takePage } from './page.js';
import { Refusal, answer, failed, succeeded } from './refusal.js';
import { runSearch, type FoundFile, type SearchJob, type SearchResult } from './search.js';
import { walk } from './walk.js';
import type { WorkspaceContext } from './workspace-context.js';

const LINE_CHARACTERS = 400;

const SearchFilesInput = z.strictObject({
  pattern: z
    .string()
    .min(1)
    .max(1_000)
    .describe('What to find, within one line: a JavaScript regular expression, or plain text when literal is set.'),
  path: z.string().min(1).default('.').describe('Folder or file to search, relative to the task folder.'),
  include: z
    .string()
    .min(1)
    .max(1_000)
    .optional()
    .describe('Only files whose path matches this glob, such as "*.ts" or "src/**/*.{js,ts}".'),
  literal: z.boolean().default(false).describe('Take pattern as plain text.'),
  case_sensitive: z.boolean().default(true).describe('Tell upper from lower case.'),
  context: z.int().min(0).max(10).default(0).describe('Lines to show before and after each match.'),
  limit: z.int().min(1).max(500).default(100).describe('Number of matching lines to return at most.'),
});
type SearchFilesInput = z.output<typeof SearchFilesInput>;

/** `search_files`: lines that match a pattern, in all text files below a folder. `timeoutMs` bounds one search. */
export function searchFilesTool<Context extends WorkspaceContext>(
  timeoutMs: number = WORKSPACE_LIMITS.searchTimeoutMs,
): ToolDefinition<typeof SearchFilesInput, Context> {
  return {
    name: 'search_files',
    title: 'Search files',
    description:
      'Finds lines of text in the files of the task folder. Use it instead of grep to find where something is defined or used; use list_files to find ' +
      'files by name. Returns, per file, the matching lines with their numbers ("12: text"; context lines as "12- text"), sorted by path, and says ' +
      'when matches were left out. Does not look into .git, node_modules, binary files, symbolic links and very large files.',
    input: SearchFilesInput,
    effect: 'read',
    concurrencySafe: true,
    idempotent: true,
    execute: (input, { context, signal }) =>
      answer(signal, async () => {
        const start = await confine(context.workspace.root, input.path);
        const pattern = patternOf(input);
        const { files, cut } = await filesToSearch(start, input, signal);
        const result = await runSearch(jobOf(input, pattern, start.root, files), { timeoutMs, signal });
        return present(result, cut, timeoutMs);
      }),
  };
}

/** Models know the inline flag of other dialects; `u` first, and without it for needless escapes such as `\-`. */
function patternOf({ pattern, literal, case_sensitive }: SearchFilesInput): SearchJob['pattern'] {
  if (literal) return { source: pattern, flags: '' };
  const inline = /^\(\?i\)/.test(pattern);
  const source = inline ? pattern.slice(4) : pattern;
  const ignoreCase = inline || !case_sensitive ? 'i' : '';
  const flags = isValid(source, `u${ignoreCase}`) ? `u${ignoreCase}` : ignoreCase;
  try {
    return { source: new RegExp(source, flags).source, flags };
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new Refusal(`pattern is not a regular expression (${reason}). Set literal to search for it as plain text.`);
  }
}

function isValid(source: string, flags: string): boolean {
  try {
    return new RegExp(source, flags).flags === flags;
  } catch {
    return false;
  }
}

async function filesToSearch(
  start: ConfinedPath,
  { include }: SearchFilesInput,
  signal: AbortSignal,
): Promise<{ readonly files: readonly string[]; readonly cut: boolean }> {
  if (start.stats === null) throw new Refusal(`${start.shown} does not exist.`);
  if (!start.stats.isDirectory()) return { files: [start.shown], cut: false };
  const matches = include === undefined ? () => true : compileGlob(include);
  const { entries, cut } = await walk(start, signal);
  const files = entries.filter(({ kind, below }) => kind === 'file' && matches(below)).map(({ path }) => path);
  return { files: files.sort(), cut };
}

function jobOf(input: SearchFilesInput, pattern: SearchJob['pattern'], root: string, files: readonly string[]): SearchJob {
  const { literal, case_sensitive: caseSensitive, context, limit } = input;
  const { searchFileBytes: maxFileBytes } = WORKSPACE_LIMITS;
  return { root, files, pattern, literal, caseSensitive, context, limit, maxFileBytes, lineCharacters: LINE_CHARACTERS };
}

function present({ files, skipped, end }: SearchResult, cut: boolean, timeoutMs: number): ToolResult {
  const matches = files.reduce((sum, file) => sum + file.lines.filter((line) => line.isMatch).length, 0);
  const lines = files.flatMap(linesOf);
  const page = takePage(lines);
  const pageIsCut = page.length < lines.length;
  const complete = end === 'complete' && !cut && !pageIsCut;
  const structured = { matches, files: files.length, skipped_files: skipped, complete };
  const summary = matches === 0 ? 'No match.' : `[${matches} matching lines in ${files.length} files]`;
  const notes = [
    ...(end === 'limit' ? ['[limit reached: there may be more; narrow the pattern, path or include]'] : []),
    ...(end === 'timed_out'
      ? [`[stopped after ${timeoutMs / 1000} s: not all files were searched; simplify the pattern or narrow path or include]`]
      : []),
    ...(cut ? ['[the folder has too many entries; not all were searched; name a subfolder]'] : []),
    ...(pageIsCut ? ['[the result is too long and was cut; narrow the pattern, path or include]'] : []),
    ...(skipped > 0 ? [`[${skipped} files were skipped: binary, too large or unreadable]`] : []),
  ];
  const text = [...page, summary, ...notes].join('\n');
  return end === 'timed_out' ? failed(text, structured) : succeeded(text, structured);
}

function linesOf({ path, lines }: FoundFile): string[] {
  return [path, ...lines.map(({ number, text, isMatch }) => `  ${number}${isMatch ? ':' : '-'} ${text}`), ''];
}
