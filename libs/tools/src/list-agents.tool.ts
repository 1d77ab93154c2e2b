import type { ToolDefinition } from '@echelon/agent-loop';
import type { AgentProfile } from '@echelon/contracts';
import { isDriven, receivesTools } from '@echelon/domain';
import { z } from 'zod';
import { exactId, pageArguments } from './tool-arguments.js';
import { callerOf, type ToolContext } from './tool-context.js';
import { toResult } from './tool-result.js';
import type { ToolServices } from './tool-services.js';

const ListAgentsInput = z.strictObject({
  workspace_id: exactId('Only profiles of this workspace; an agent sees its own alone.').optional(),
  ...pageArguments(100),
});

export function listAgentsTool(services: ToolServices): ToolDefinition<typeof ListAgentsInput, ToolContext> {
  return {
    name: 'list_agents_kandev',
    title: 'List agent profiles',
    description:
      'Lists the agent profiles that tasks can run with. Use it when a task needs another agent than its parent has. Returns { items, next_cursor }: profile_id, name, runtime, ' +
      'provider, model, and can_autopilot, which an autopilot task needs.',
    input: ListAgentsInput,
    effect: 'read',
    concurrencySafe: true,
    idempotent: true,
    execute: async (input, execution) =>
      toResult(await services.profiles.list(callerOf(execution), input), ({ items, next_cursor }) => ({
        items: items.map(toLine),
        next_cursor,
      })),
  };
}

function toLine({ id, workspace_id, name, runtime, provider, model }: AgentProfile): object {
  return { profile_id: id, workspace_id, name, runtime, provider, model, can_autopilot: receivesTools(runtime) && isDriven(runtime) };
}
