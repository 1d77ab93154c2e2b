/**
 * What a turn is derived as: prompt, tools and model (autopilot-contract.md §3). Evaluated once, at the turn's start, and kept
 * with it, so that a resumed turn sends the same bytes after a detach or a deploy. Authority is checked again at every call.
 */
import { createHash } from 'node:crypto';
import type { ToolSpecification } from '@echelon/agent-loop';
import type { Contract } from '@echelon/domain';
import { type ClaimedTurn, heldContract, type KeptContract, toKeptContract } from '@echelon/orchestration';
import {
  findProfile,
  findStep,
  findTask,
  findToolList,
  type OpenTx,
  type ProfileRow,
  type StepView,
  storeContract,
  type TaskRow,
  type Tx,
} from '@echelon/persistence';
import { buildSystemPrompt } from './system-prompt.js';

export interface TurnContract {
  readonly contract: Contract;
  readonly systemPrompt: string;
  readonly specifications: readonly ToolSpecification[];
  readonly provider: string;
  readonly models: readonly string[];
  readonly profile: ProfileRow;
  /** Stores it with the turn; absent where it is kept already. */
  readonly keep: ((tx: OpenTx) => void) | null;
}

interface KeptTurn extends KeptContract {
  readonly provider: string;
  readonly models: readonly string[];
  readonly tools_hash: string;
}

/** Gives the specifications of the tools that a contract offers, in the order in which models see them. */
export type SpecifyTools = (contract: Contract) => readonly ToolSpecification[];

/** The turn's contract: the kept one, or derived now and to be kept before anything is sent. */
export async function deriveTurnContract(tx: Tx, claimed: ClaimedTurn, specify: SpecifyTools): Promise<TurnContract> {
  const { task, session } = claimed;
  const [profile, parent, step] = await Promise.all([
    findProfile(tx, session.profile_id),
    task.parent_id ? findTask(tx, task.parent_id) : null,
    task.workflow_step_id ? findStep(tx, task.workflow_step_id) : null,
  ]);
  if (!profile) throw new Error(`session ${claimed.session.id} has no profile`);
  const { contract: kept, system_prompt: systemPrompt } = claimed.turn;
  if (systemPrompt === null) return derive({ claimed, profile, parent, step, specify });
  return recall(tx, { kept: kept as KeptTurn, systemPrompt, profile });
}

async function recall(
  tx: Tx,
  { kept, systemPrompt, profile }: { readonly kept: KeptTurn; readonly systemPrompt: string; readonly profile: ProfileRow },
): Promise<TurnContract> {
  const specifications = await findToolList(tx, Buffer.from(kept.tools_hash, 'hex'));
  if (specifications === null) throw new Error(`tool list ${kept.tools_hash} is gone`);
  return {
    contract: { promptProfile: kept.prompt_profile, capabilities: kept.capabilities },
    systemPrompt,
    specifications: JSON.parse(specifications) as readonly ToolSpecification[],
    provider: kept.provider,
    models: kept.models,
    profile,
    keep: null,
  };
}

interface Ground {
  readonly claimed: ClaimedTurn;
  readonly profile: ProfileRow;
  readonly parent: TaskRow | null;
  readonly step: StepView | null;
  readonly specify: SpecifyTools;
}

function derive({ claimed: { task, session, turn }, profile, parent, step, specify }: Ground): TurnContract {
  const contract = heldContract(turn, { task, session });
  const systemPrompt = buildSystemPrompt({ contract, task, sessionId: session.id, parent, step, profilePrompt: profile.system_prompt });
  const specifications = specify(contract);
  const text = JSON.stringify(specifications);
  const toolsHash = createHash('sha256').update(text).digest();
  const models = [profile.model, ...profile.fallback_models];
  const kept: KeptTurn = {
    ...toKeptContract(contract),
    provider: profile.provider,
    models,
    tools_hash: toolsHash.toString('hex'),
  };
  const keep = (tx: OpenTx): void => storeContract(tx, turn.id, { systemPrompt, contract: kept, toolsHash, specifications: text });
  return { contract, systemPrompt, specifications, provider: profile.provider, models, profile, keep };
}
