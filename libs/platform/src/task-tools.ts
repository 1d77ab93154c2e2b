/** The workspace tools of a worker: confined to task folders, commands counted and fenced (K21, K24). */
import path from 'node:path';
import type { AgentToolContext } from '@echelon/tools';
import { type CommandProcess, createWorkspaceTools, findCommand, killCommand } from '@echelon/workspace-tools';
import type { Config } from './config.js';
import type { Semaphore } from './semaphore.js';

/** `commands`: the slots that they share with the commands of hooks. */
export function createTaskTools(config: Config, commands: Semaphore) {
  const tools = createWorkspaceTools<AgentToolContext>({
    command: { hiddenFolders: [path.join(config.dataDir, 'postgres'), path.join(config.dataDir, 'keys')] },
    onCommandStarted: ({ callId, context, process }) => context.recordProcess(callId, process),
  });
  return tools.map((tool): typeof tool =>
    tool.effect === 'execute'
      ? { ...tool, execute: (input, execution) => commands.run(() => tool.execute(input, execution), execution.signal) }
      : tool,
  );
}

/**
 * Ends what is left of a command that an earlier worker started on this host, so that a resumed turn never runs beside it (K21).
 * `false`: it was started on another host, and may still be running.
 */
export async function endCommand(process: object): Promise<boolean> {
  const command = process as CommandProcess;
  await killCommand(command);
  return findCommand(command) !== 'unreachable';
}
