import type { ArgumentLimits } from '@echelon/agent-loop';
import { DEFAULT_LIMITS } from '@echelon/domain';

/** What the arguments of a tool call may be at most, whichever way it comes: through our loop or over MCP. */
export const ARGUMENT_LIMITS: ArgumentLimits = {
  bytes: DEFAULT_LIMITS.tool_arguments_bytes,
  levels: DEFAULT_LIMITS.tool_arguments_levels,
};
