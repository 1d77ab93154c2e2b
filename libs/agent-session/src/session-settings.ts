import type { ModelTarget } from '@echelon/agent-loop';
import type { HooksConfig } from '@echelon/contracts';
import type { PermissionMode, PermissionRule } from '@echelon/domain';

/** What a session runs on, whatever its surface. */
export interface SessionSettings {
  /** The model to ask, then at most 3 fallbacks. */
  readonly models: readonly ModelTarget[];
  readonly rules: readonly PermissionRule[];
  /** Of a session that has not chosen another. */
  readonly mode: PermissionMode;
  /** Added to the system prompt. */
  readonly instructions?: string | undefined;
  readonly hooks?: HooksConfig | undefined;
  /** What the turn cap counts: the rounds of the session, or those of this process. Default: the session's. */
  readonly capCounts?: 'session' | 'process';
  /** Whether the likely next prompt may be run ahead (docs/speculation.md). Default: no. */
  readonly speculate?: boolean;
}
