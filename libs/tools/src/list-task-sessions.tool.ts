import type { ToolDefinition } from '@echelon/agent-loop';
import type { Session } from '@echelon/contracts';
import { z } from 'zod';
import { exactId } from './tool-arguments.js';
import { callerOf, type ToolContext } from './tool-context.js';
import { toResult } from './tool-result.js';
import type { ToolServices } from './tool-services.js';

const ListTaskSessionsInput = z.strictObject({ task_id: exactId('Task whose sessions to list.') });

export function listTaskSessionsTool(services: ToolServices): ToolDefinition<typeof ListTaskSessionsInput, ToolContext> {
  return {
    name: 'list_task_sessions_kandev',
    title: 'List sessions',
    description:
      'Lists the sessions of a task from new to old. A session is one conversation of one agent on the task. Use it when you need a session_id. Returns sessions with session_id, ' +
      'name, state, pending_action, is_primary, is_current (it is yours), profile_id and times.',
    input: ListTaskSessionsInput,
    effect: 'read',
    concurrencySafe: true,
    idempotent: true,
    polling: true,
    execute: async ({ task_id: taskId }, execution) => {
      const actor = callerOf(execution);
      const current = actor.kind === 'agent' ? actor.sessionId : null;
      return toResult(await services.sessions.listByTask(actor, taskId), ({ items }) => ({
        task_id: taskId,
        sessions: items.map((session) => toLine(session, current)),
      }));
    },
  };
}

function toLine(
  { id, name, kind, state, pending_action, is_primary, profile_id, created_at, updated_at, ended_at }: Session,
  current: string | null,
) {
  return {
    session_id: id,
    name,
    kind,
    state,
    pending_action,
    is_primary,
    is_current: id === current,
    profile_id,
    created_at,
    updated_at,
    ended_at,
  };
}
