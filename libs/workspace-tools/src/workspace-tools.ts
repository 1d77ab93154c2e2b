import type { ToolDefinition } from '@echelon/agent-loop';
import type { z } from 'zod';
import { commandPolicy, type CommandPolicy } from './command-policy.js';
import { editFileTool } from './edit-file.tool.js';
import { listFilesTool } from './list-files.tool.js';
import { readFileTool } from './read-file.tool.js';
import { runCommandTool, type CommandStarted } from './run-command.tool.js';
import { searchFilesTool } from './search-files.tool.js';
import type { WorkspaceContext } from './workspace-context.js';
import { writeFileTool } from './write-file.tool.js';

export interface WorkspaceToolsOptions<Context extends WorkspaceContext> {
  /** What differs from the default policy. */
  readonly command?: Partial<CommandPolicy>;
  /** Called before a command begins, with what K21 wants in its call's row; when it rejects, nothing runs. */
  readonly onCommandStarted?: (started: CommandStarted<Context>) => Promise<void> | void;
  /** Time limit of one search. */
  readonly searchTimeoutMs?: number;
}

/** The file, search and command tools, confined to the folder `context.workspace.root` of each call. */
export function createWorkspaceTools<Context extends WorkspaceContext>(
  options: WorkspaceToolsOptions<Context> = {},
): readonly ToolDefinition<z.ZodType, Context>[] {
  const command = runCommandTool<Context>({
    policy: commandPolicy(options.command),
    onStarted: options.onCommandStarted ?? (() => undefined),
  });
  return [
    readFileTool<Context>(),
    writeFileTool<Context>(),
    editFileTool<Context>(),
    listFilesTool<Context>(),
    searchFilesTool<Context>(options.searchTimeoutMs),
    command,
  ];
}
