/** The workspace tools of a worker: confined to task folders, with the process of each command stored in its call's row (K21). */
import path from 'node:path';
import { type Database, storeCallProcess } from '@echelon/persistence';
import type { AgentToolContext } from '@echelon/tools';
import { type CommandProcess, createWorkspaceTools, killCommand } from '@echelon/workspace-tools';
import type { Config } from './config.js';

export function createTaskTools(config: Config, database: Database) {
  return createWorkspaceTools<AgentToolContext>({
    command: { hiddenFolders: [path.join(config.dataDir, 'postgres'), path.join(config.dataDir, 'keys')] },
    onCommandStarted: ({ callId, context, process }) => storeCallProcess(database, context.actor.sessionId, callId, process),
  });
}

/** Ends what is left of a command that an earlier worker started on this host, so that a resumed turn never runs beside it (K21). */
export function endCommand(process: object): Promise<void> {
  return killCommand(process as CommandProcess);
}
