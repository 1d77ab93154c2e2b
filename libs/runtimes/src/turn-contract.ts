/**
 * What a turn is derived as: prompt, tools and model (autopilot-contract.md §3). Evaluated once, at the turn's start, and kept
 * with it, so that a resumed turn sends the same bytes after a detach or a deploy. Authority is checked again at every call.
 */
import { createHash } from 'node:crypto';
import type { ToolSpecification } from '@echelon/agent-loop';
import { type Capability, type Contract, deriveContract, type PromptProfile } from '@echelon/domain';
import type { ClaimedTurn } from '@echelon/orchestration';
import { type Database, findProfile, findTask, findToolList, type ProfileRow, storeContract } from '@echelon/persistence';
import { buildSystemPrompt } from './system-prompt.js';

export interface TurnContract {
  readonly contract: Contract;
  readonly systemPrompt: string;
  readonly specifications: readonly ToolSpecification[];
  readonly provider: string;
  readonly models: readonly string[];
  readonly profile: ProfileRow;
}

interface KeptContract {
  readonly prompt_profile: PromptProfile;
  readonly capabilities: readonly Capability[];
  readonly provider: string;
  readonly models: readonly string[];
  readonly tools_hash: string;
}

/** Gives the specifications of the tools that a contract offers, in the order in which models see them. */
export type SpecifyTools = (contract: Contract) => readonly ToolSpecification[];

/** The turn's contract: the kept one, or derived and kept now. */
export async function deriveTurnContract(database: Database, claimed: ClaimedTurn, specify: SpecifyTools): Promise<TurnContract> {
  const profile = await findProfile(database, claimed.session.profile_id);
  if (!profile) throw new Error(`session ${claimed.session.id} has no profile`);
  const { contract: kept, system_prompt: systemPrompt } = claimed.turn;
  if (kept === null || systemPrompt === null) return derive(database, { claimed, profile, specify });
  return recall(database, { kept: kept as KeptContract, systemPrompt, profile });
}

async function recall(
  database: Database,
  { kept, systemPrompt, profile }: { readonly kept: KeptContract; readonly systemPrompt: string; readonly profile: ProfileRow },
): Promise<TurnContract> {
  const specifications = await findToolList(database, Buffer.from(kept.tools_hash, 'hex'));
  if (specifications === null) throw new Error(`tool list ${kept.tools_hash} is gone`);
  return {
    contract: { promptProfile: kept.prompt_profile, capabilities: kept.capabilities },
    systemPrompt,
    specifications: JSON.parse(specifications) as readonly ToolSpecification[],
    provider: kept.provider,
    models: kept.models,
    profile,
  };
}

async function derive(
  database: Database,
  { claimed, profile, specify }: { readonly claimed: ClaimedTurn; readonly profile: ProfileRow; readonly specify: SpecifyTools },
): Promise<TurnContract> {
  const { task, session, turn } = claimed;
  const contract = deriveContract({
    autopilot: task.autopilot,
    hasParent: task.parent_id !== null,
    sessionKind: session.kind,
    runtime: session.runtime,
  });
  const parent = task.parent_id ? await findTask(database, task.parent_id) : null;
  const systemPrompt = buildSystemPrompt({ contract, task, sessionId: session.id, parent, profilePrompt: profile.system_prompt });
  const specifications = specify(contract);
  const text = JSON.stringify(specifications);
  const toolsHash = createHash('sha256').update(text).digest();
  const models = [profile.model, ...profile.fallback_models];
  const kept: KeptContract = {
    prompt_profile: contract.promptProfile,
    capabilities: contract.capabilities,
    provider: profile.provider,
    models,
    tools_hash: toolsHash.toString('hex'),
  };
  await storeContract(database, turn.id, { systemPrompt, contract: kept, toolsHash, specifications: text });
  return { contract, systemPrompt, specifications, provider: profile.provider, models, profile };
}
