/** What every program on the platform makes first. */
import { randomUUID } from 'node:crypto';
import { isRefusal } from '@echelon/domain';
import type { OperatorActor, Outcome, Services } from '@echelon/orchestration';

export const OPERATOR: OperatorActor = { kind: 'operator', tokenId: randomUUID(), operatorId: randomUUID(), name: 'bench' };

/** Its id. */
export async function createWorkspace(services: Services): Promise<string> {
  return accepted(await services.workspaces.create(OPERATOR, { name: randomUUID() })).id;
}

/** Its id. */
export async function createProfile(services: Services, workspaceId: string, runtime: 'loop' | 'external'): Promise<string> {
  const profile = await services.profiles.create(OPERATOR, {
    workspace_id: workspaceId,
    name: runtime,
    runtime,
    provider: 'scripted',
    model: 'scripted',
    system_prompt: '',
    max_output_tokens: null,
    context_window: null,
    fallback_models: [],
    budgets: {},
    hooks: {},
    parent_question_timeout_seconds: null,
    user_question_timeout_seconds: null,
  });
  return accepted(profile).id;
}

/** The value; throws where the platform refused. */
export function accepted<T extends object>(outcome: Outcome<T>): T {
  if (isRefusal(outcome)) throw new Error(`refused: ${outcome.code} ${JSON.stringify(outcome.details)}`);
  return outcome;
}
