export type { CommandPolicy } from './command-policy.js';
export { findCommand, killCommand, type CommandPresence, type CommandProcess } from './command-process.js';
export { WORKSPACE_LIMITS } from './limits.js';
export { createOutputDecoder, type OutputDecoder } from './output-decoder.js';
export { isReadOnlyCommand } from './read-only-command.js';
export type { CommandStarted } from './run-command.tool.js';
export { describeSandbox, type SandboxChoice, type SandboxDescription } from './sandbox.js';
export type { WorkspaceContext } from './workspace-context.js';
export { createWorkspaceTools, type WorkspaceToolsOptions } from './workspace-tools.js';
