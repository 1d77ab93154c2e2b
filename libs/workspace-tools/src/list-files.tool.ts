import { z } from 'zod';
import type { ToolDefinition, ToolResult } from '@echelon/agent-loop';
import { confine, show, type ConfinedPath } from './confinement.js';
import { compileGlob } from './glob.js';
import { WORKSPACE_LIMITS } from './limits.js';
import { takePage } from './page.js';
import { Refusal, answer, succeeded } from './refusal.js';
import { listFolder, walk, type WalkedEntry } from './walk.js';
import type { WorkspaceContext } from './workspace-context.js';

const ListFilesInput = z.strictObject({
  path: z.string().min(1).default('.').describe('Folder to list, relative to the task folder.'),
  glob: z
    .string()
    .min(1)
    .max(1_000)
    .optional()
    .describe(
      'Search all subfolders for files that match, such as "*.ts" or "src/**/*.{js,ts}". Without it, the entries of the folder itself.',
    ),
  offset: z.int().min(0).default(0).describe('Number of entries to skip.'),
  limit: z.int().min(1).max(WORKSPACE_LIMITS.pageLines).default(200).describe('Number of entries to return at most.'),
});
type ListFilesInput = z.output<typeof ListFilesInput>;

/** `list_files`: one folder, or all files below it that match a glob. */
export function listFilesTool<Context extends WorkspaceContext>(): ToolDefinition<typeof ListFilesInput, Context> {
  return {
    name: 'list_files',
    title: 'List files',
    description:
      'Lists a folder of the task folder, or, with glob, all files below it whose path matches. Use it to find your way and to find files by name; ' +
      'use search_files to find text. Returns one path per line, relative to the task folder, sorted; folders end with "/", symbolic links with "@". ' +
      'A glob does not look into .git and node_modules. The last line says how to get the next page.',
    input: ListFilesInput,
    effect: 'read',
    concurrencySafe: true,
    idempotent: true,
    execute: (input, { context, signal }) =>
      answer(signal, async () => {
        const folder = await confine(context.workspace.root, input.path);
        if (folder.stats === null) throw new Refusal(`${folder.shown} does not exist.`);
        if (!folder.stats.isDirectory()) throw new Refusal(`${folder.shown} is a file, not a folder.`);
        const { paths, cut } = input.glob === undefined ? await listOne(folder) : await listMatching(folder, input.glob, signal);
        return present(paths, cut, folder.shown, input);
      }),
  };
}

interface Listing {
  readonly paths: readonly string[];
  readonly cut: boolean;
}

const MARKS: Readonly<Record<WalkedEntry['kind'], string>> = { file: '', folder: '/', link: '@', other: '' };

async function listOne(folder: ConfinedPath): Promise<Listing> {
  const entries = await listFolder(folder.root, folder.real);
  return { paths: entries.map(({ path, kind }) => show(folder.root, path) + MARKS[kind]), cut: false };
}

async function listMatching(folder: ConfinedPath, glob: string, signal: AbortSignal): Promise<Listing> {
  const matches = compileGlob(glob);
  const { entries, cut } = await walk(folder, signal);
  const found = entries.filter(({ kind, below }) => kind !== 'folder' && matches(below));
  return { paths: found.map(({ path, kind }) => path + MARKS[kind]).sort(), cut };
}

function present(paths: readonly string[], cut: boolean, shown: string, { offset, limit, glob }: ListFilesInput): ToolResult {
  const page = takePage(paths.slice(offset, offset + limit));
  const next = offset + page.length < paths.length ? offset + page.length : null;
  const structured = { path: shown, entries: page, total: paths.length, next_offset: next };
  const warning = cut ? [`[the folder has more than ${WORKSPACE_LIMITS.walkEntries} entries; not all were seen, name a subfolder]`] : [];
  if (paths.length === 0)
    return succeeded([glob === undefined ? `${shown} is empty.` : 'No file matches.', ...warning].join('\n'), structured);
  if (page.length === 0) throw new Refusal(`offset ${offset} is past the end: there are ${paths.length} entries.`);
  const range = `[entries ${offset + 1}-${offset + page.length} of ${paths.length}${next === null ? '' : `; continue with offset ${next}`}]`;
  return succeeded([...page, '', range, ...warning].join('\n'), structured);
}
