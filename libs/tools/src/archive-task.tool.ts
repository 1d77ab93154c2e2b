import type { ToolDefinition } from '@echelon/agent-loop';
import { z } from 'zod';
import { exactId } from './tool-arguments.js';
import { callerOf, type ToolContext } from './tool-context.js';
import { toResult } from './tool-result.js';
import type { ToolServices } from './tool-services.js';

const ArchiveTaskInput = z.strictObject({ task_id: exactId('Task to archive.') });

export function archiveTaskTool(services: ToolServices): ToolDefinition<typeof ArchiveTaskInput, ToolContext> {
  return {
    name: 'archive_task_kandev',
    title: 'Archive task',
    description:
      'Archives a task: its agents end, it takes no messages or subtasks any more, and lists leave it out; nothing is deleted. Use it for finished work that nobody needs to see. ' +
      'Returns task_id, state, archived_at and already_archived; a second time changes nothing.',
    input: ArchiveTaskInput,
    effect: 'write',
    concurrencySafe: false,
    idempotent: true,
    execute: async ({ task_id: id }, execution) =>
      toResult(await services.tasks.archive(callerOf(execution), id), ({ state, archived_at, already_archived }) => ({
        task_id: id,
        state,
        archived_at,
        already_archived,
      })),
  };
}
