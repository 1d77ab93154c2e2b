import { mkdir, mkdtemp, readFile, realpath, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import type { ToolDefinition, ToolResult } from '@echelon/agent-loop';
import type { z } from 'zod';
import type { WorkspaceContext } from './workspace-context.js';
import { createWorkspaceTools, type WorkspaceToolsOptions } from './workspace-tools.js';

/** What specs of this package run in: a task folder with a neighbour that must stay out of reach. */
export interface TestWorkspace extends AsyncDisposable {
  readonly root: string;
  /** A folder beside the task folder; it contains `secret.txt`. */
  readonly outside: string;
  tool(name: string): ToolDefinition<z.ZodType, WorkspaceContext>;
  /** Validates `input` and runs the call, as the loop does. */
  call(name: string, input: unknown, execution?: { readonly signal?: AbortSignal; report?(chunk: string): void }): Promise<ToolResult>;
  put(path: string, content: string | Uint8Array): Promise<void>;
  read(path: string): Promise<string>;
}

export const SECRET = 'the neighbour is not to be read';

export async function createTestWorkspace(options: WorkspaceToolsOptions<WorkspaceContext> = {}): Promise<TestWorkspace> {
  const base = await realpath(await mkdtemp(join(tmpdir(), 'workspace-tools-')));
  const [root, outside] = [join(base, 'task'), join(base, 'outside')];
  await Promise.all([mkdir(root), mkdir(outside)]);
  await writeFile(join(outside, 'secret.txt'), SECRET);
  const tools = createWorkspaceTools<WorkspaceContext>(options);
  const tool = (name: string) => {
    const found = tools.find((each) => each.name === name);
    if (found === undefined) throw new Error(`no tool ${name}`);
    return found;
  };
  return {
    root,
    outside,
    tool,
    call: async (name, input, execution = {}) =>
      await tool(name).execute(tool(name).input.parse(input), {
        callId: 'call_1',
        signal: new AbortController().signal,
        context: { workspace: { root } },
        ...execution,
      }),
    put: async (path, content) => {
      await mkdir(dirname(join(root, path)), { recursive: true });
      await writeFile(join(root, path), content);
    },
    read: async (path) => await readFile(join(root, path), 'utf8'),
    [Symbol.asyncDispose]: async () => await rm(base, { recursive: true, force: true }),
  };
}
