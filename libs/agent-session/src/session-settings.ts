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
  /**
   * What limits count. `session`, the default: its rounds, and what a turn has used in all processes. `process`: the rounds of this one, and
   * what this run of a turn uses.
   */
  readonly limitsCount?: 'session' | 'process';
  /** Whether the likely next prompt may be run ahead (docs/speculation.md). Default: no. */
  readonly speculate?: boolean;
}
