import type { ToolDefinition } from '@echelon/agent-loop';
import type { z } from 'zod';

/** What a tool of a session knows of its call. */
export interface SessionContext {
  readonly workspace: { readonly root: string };
  /** Stores the process of a command before it begins. */
  readonly recordProcess: (callId: string, process: object) => void;
}

export type SessionTool = ToolDefinition<z.ZodType, SessionContext>;
