/**
 * The contract of a session: its prompt profile and its capability set, derived together so that they cannot disagree
 * (autopilot-contract.md §3). Prompt builder and tool list both read this result and nothing else.
 */
import { receivesTools, type RuntimeKind, type SessionKind } from './session.js';

export type PromptProfile = 'normal' | 'autopilot_child' | 'autopilot_root' | 'configuration' | 'plain';

/** What a session may do with our tools. A tool names the one capability that offers it. */
export type Capability =
  'task_tools' | 'step_completion' | 'user_question' | 'parent_question' | 'workspace' | 'inbox' | 'configuration' | 'external';

export interface Contract {
  readonly promptProfile: PromptProfile;
  readonly capabilities: readonly Capability[];
}

export interface ContractFacts {
  readonly autopilot: boolean;
  readonly hasParent: boolean;
  readonly sessionKind: SessionKind;
  readonly runtime: RuntimeKind;
}

/** What a runtime needs of ours, or cannot do without us: an agent over ACP works in its task's folder with tools of its own. */
const OWN_CAPABILITIES: Readonly<Record<RuntimeKind, readonly Capability[]>> = {
  loop: ['workspace'],
  acp: [],
  external: ['inbox'],
  passthrough: [],
};

const PLAIN: Contract = { promptProfile: 'plain', capabilities: [] };

/** Derives the contract from the stored row: pure, no text of the task is read (F7). */
export function deriveContract({ autopilot, hasParent, sessionKind, runtime }: ContractFacts): Contract {
  if (!receivesTools(runtime) || sessionKind === 'quick_chat' || sessionKind === 'utility') return PLAIN;
  if (sessionKind === 'config') {
    return autopilot ? PLAIN : { promptProfile: 'configuration', capabilities: ['configuration', 'user_question'] };
  }
  const base: readonly Capability[] = ['task_tools', 'step_completion', ...OWN_CAPABILITIES[runtime]];
  if (!autopilot) return { promptProfile: 'normal', capabilities: [...base, 'user_question'] };
  if (!hasParent) return { promptProfile: 'autopilot_root', capabilities: base };
  return { promptProfile: 'autopilot_child', capabilities: [...base, 'parent_question'] };
}

/** What an operator's token sees over MCP: it belongs to no session (architecture.md §6). */
export const EXTERNAL_CONTRACT: Contract = { promptProfile: 'plain', capabilities: ['external'] };

/** Capabilities of a subagent or a speculative run: neither question tool nor the completion signal (D9). */
export function withoutTurnEnding(contract: Contract): Contract {
  const removed: readonly Capability[] = ['user_question', 'parent_question', 'step_completion'];
  return { ...contract, capabilities: contract.capabilities.filter((capability) => !removed.includes(capability)) };
}
