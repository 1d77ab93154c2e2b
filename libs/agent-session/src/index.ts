export { type CommandSlot, createUserHooks, type HookFailure, type UserHooksOptions } from './hooks/user-hooks.js';
export { createSubagentTool } from './subagent/run-subagent.tool.js';
export { createSubagentHost, SUBAGENT_TOOL, type SubagentHost, type SubagentRun } from './subagent/subagent-host.js';
export { SUBAGENT_ROLE } from './subagent/subagent-prompt.js';
