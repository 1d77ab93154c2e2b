/**
 * The tool catalogue: one definition a tool, used by the loop and by MCP.
 *
 * C1  A contract's capabilities alone decide its tools (D1); nothing is looked up elsewhere.
 * C2  Every tool passes the guard of a turn that asked (A16).
 */
import type { ToolDefinition } from '@echelon/agent-loop';
import { createSubagentTool } from '@echelon/agent-session';
import type { Capability, Contract } from '@echelon/domain';
import { refuse } from '@echelon/domain';
import type { z } from 'zod';
import { answerQuestionTool } from './answer-question.tool.js';
import { archiveTaskTool } from './archive-task.tool.js';
import { askParentQuestionTool } from './ask-parent-question.tool.js';
import { askUserQuestionTool } from './ask-user-question.tool.js';
import { attachTurn } from './attached-turn.js';
import { createTaskTool } from './create-task.tool.js';
import { deleteTaskTool } from './delete-task.tool.js';
import { getMessageDeliveryTool } from './get-message-delivery.tool.js';
import { getTaskConversationTool } from './get-task-conversation.tool.js';
import { getTaskTool } from './get-task.tool.js';
import { listAgentsTool } from './list-agents.tool.js';
import { listPendingQuestionsTool } from './list-pending-questions.tool.js';
import { listRelatedTasksTool } from './list-related-tasks.tool.js';
import { listTaskInboxTool } from './list-task-inbox.tool.js';
import { listTaskSessionsTool } from './list-task-sessions.tool.js';
import { listTasksTool } from './list-tasks.tool.js';
import { messageTaskTool } from './message-task.tool.js';
import { OFFERED_TOOLS } from './offered-tools.js';
import { reparentTaskTool } from './reparent-task.tool.js';
import { spawnSessionTool } from './spawn-session.tool.js';
import { addTaskDependencyTool, removeTaskDependencyTool } from './task-dependency.tools.js';
import { createTaskPlanTool, deleteTaskPlanTool, getTaskPlanTool, updateTaskPlanTool } from './task-plan.tools.js';
import { stepCompleteTool } from './step-complete.tool.js';
import { stopTaskTool } from './stop-task.tool.js';
import type { AgentToolContext, ToolContext } from './tool-context.js';
import { refused } from './tool-result.js';
import type { ToolServices } from './tool-services.js';
import { guardTurn } from './turn-guard.js';
import { waitForMessagesTool } from './wait-for-messages.tool.js';
import { listWorkflowStepsTool, listWorkflowsTool, moveTaskTool } from './workflow.tools.js';
import { updateTaskTool } from './update-task.tool.js';

export interface CatalogueTool extends ToolDefinition<z.ZodType, ToolContext> {
  /** Shape of the structured result, where it is declared to clients. */
  readonly output?: z.ZodType;
}

export interface ToolCatalogue {
  /** Exactly the tools that a contract offers, in the order in which models see them. */
  toolsFor(contract: Contract): readonly CatalogueTool[];
  /** A tool by its name, offered or not: a question tool out of its contract answers with its typed refusal (D3). */
  find(name: string): CatalogueTool | null;
}

export interface ToolCatalogueOptions {
  readonly services: ToolServices;
  /** Tools of the task's folder, for a process that has it. */
  readonly workspaceTools?: readonly ToolDefinition<z.ZodType, AgentToolContext>[];
}

/** Builds the catalogue. Throws when two tools have one name or a capability offers a tool that does not exist. */
export function createToolCatalogue({ services, workspaceTools = [] }: ToolCatalogueOptions): ToolCatalogue {
  const folderTools = workspaceTools.length === 0 ? [] : [...workspaceTools, subagentTool()];
  const tools = [...serviceTools(services), ...folderTools.map(inTaskFolder)].map((tool) =>
    attachTurn(guardTurn(tool, services), services),
  );
  const byName = new Map(tools.map((tool) => [tool.name, tool]));
  if (byName.size !== tools.length) throw new Error('two tools have the same name');
  const namesOf = (capability: Capability): readonly string[] =>
    capability === 'workspace' ? folderTools.map(({ name }) => name) : OFFERED_TOOLS[capability];
  const get = (name: string): CatalogueTool => {
    const tool = byName.get(name);
    if (!tool) throw new Error(`no tool is named ${name}`);
    return tool;
  };
  return {
    toolsFor: ({ capabilities }) => [...new Set(capabilities.flatMap(namesOf))].map(get),
    find: (name) => byName.get(name) ?? null,
  };
}

function serviceTools(services: ToolServices): readonly CatalogueTool[] {
  return [
    createTaskTool(services),
    listTasksTool(services),
    listRelatedTasksTool(services),
    getTaskTool(services),
    updateTaskTool(services),
    messageTaskTool(services),
    getMessageDeliveryTool(services),
    stopTaskTool(services),
    spawnSessionTool(services),
    archiveTaskTool(services),
    deleteTaskTool(services),
    reparentTaskTool(services),
    addTaskDependencyTool(services),
    removeTaskDependencyTool(services),
    createTaskPlanTool(services),
    getTaskPlanTool(services),
    updateTaskPlanTool(services),
    deleteTaskPlanTool(services),
    listWorkflowsTool(services),
    listWorkflowStepsTool(services),
    moveTaskTool(services),
    getTaskConversationTool(services),
    listTaskSessionsTool(services),
    listAgentsTool(services),
    stepCompleteTool(services),
    askUserQuestionTool(services),
    askParentQuestionTool(services),
    listPendingQuestionsTool(services),
    answerQuestionTool(services),
    listTaskInboxTool(services),
    waitForMessagesTool(services),
  ];
}

/** A subagent works in its agent's folder, so that it is offered with it. */
function subagentTool(): ToolDefinition<z.ZodType, AgentToolContext> {
  return createSubagentTool<AgentToolContext, ToolContext>(({ subagents }) => subagents ?? null);
}

/** Runs a workspace tool only for an agent whose task's folder this process has. */
function inTaskFolder(tool: ToolDefinition<z.ZodType, AgentToolContext>): CatalogueTool {
  return {
    ...tool,
    execute: async (input, execution) => {
      const { context } = execution;
      return hasFolder(context) ? tool.execute(input, { ...execution, context }) : refused(refuse('TOOL_NOT_OFFERED'));
    },
  };
}

function hasFolder(context: ToolContext): context is AgentToolContext {
  return context.actor.kind === 'agent' && context.workspace !== undefined && context.recordProcess !== undefined;
}
