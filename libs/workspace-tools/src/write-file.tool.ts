import { z } from 'zod';
import type { ToolDefinition } from '@echelon/agent-loop';
import { writeAtomically } from './atomic-write.js';
import { confine } from './confinement.js';
import { WORKSPACE_LIMITS } from './limits.js';
import { answer, succeeded } from './refusal.js';
import type { WorkspaceContext } from './workspace-context.js';

const WriteFileInput = z.strictObject({
  path: z.string().min(1).describe('File to write, relative to the task folder. Missing folders are created.'),
  content: z.string().max(WORKSPACE_LIMITS.writeCharacters).describe('The complete new content of the file.'),
});

/** `write_file`: creates a file or replaces its whole content, atomically. */
export function writeFileTool<Context extends WorkspaceContext>(): ToolDefinition<typeof WriteFileInput, Context> {
  return {
    name: 'write_file',
    title: 'Write file',
    description:
      'Creates a file of the task folder, or replaces the whole content of an existing one. Use it for new files and complete rewrites; ' +
      'use edit_file to change a part. Returns whether the file was created or replaced, and its size.',
    input: WriteFileInput,
    effect: 'write',
    concurrencySafe: false,
    idempotent: false,
    execute: ({ path, content }, { context, signal }) =>
      answer(signal, async () => {
        const target = await confine(context.workspace.root, path);
        await writeAtomically(target, content);
        const change = target.stats === null ? 'created' : 'replaced';
        const bytes = Buffer.byteLength(content);
        return succeeded(`${target.shown} was ${change} (${bytes} bytes).`, { path: target.shown, change, bytes });
      }),
  };
}
