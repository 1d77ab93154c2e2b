/** What a deployment needs before anyone can use it: an operator with a token, a workspace, and a profile where a provider is set up. */
import { isRefusal } from '@echelon/domain';
import { chooseProvider, DEFAULT_MODELS, type ProviderName } from '@echelon/model-clients';
import type { Actor, Outcome, Services } from '@echelon/orchestration';
import type { Config } from './config.js';
import { readOperatorToken, writeOperatorToken } from './operator-token.js';

export interface FirstStart {
  /** The operator's token, where this machine knows it. */
  readonly token: string | null;
  /** Provider of the default profile; `null` when none is set up. */
  readonly provider: ProviderName | null;
}

/** Creates what is missing; every later start changes nothing. */
export async function prepareFirstStart(config: Config, services: Services): Promise<FirstStart> {
  const created = await services.tokens.bootstrapOperator('operator');
  if (created) writeOperatorToken(config, created.secret);
  const token = created?.secret ?? readOperatorToken(config);
  const provider = chooseProvider(config.env);
  const caller = token ? await services.tokens.authenticate(token) : null;
  if (caller?.actor.kind === 'operator') await prepareWorkspace(caller.actor, { config, services, provider });
  return { token: caller ? token : null, provider };
}

interface Preparation {
  readonly config: Config;
  readonly services: Services;
  readonly provider: ProviderName | null;
}

async function prepareWorkspace(actor: Actor, { config, services, provider }: Preparation): Promise<void> {
  const workspaces = expect(await services.workspaces.list(actor, { limit: 1 }));
  const workspace = workspaces.items[0] ?? expect(await services.workspaces.create(actor, { name: 'default' }));
  if (!provider) return;
  const profiles = expect(await services.profiles.list(actor, { limit: 1, workspace_id: workspace.id }));
  if (profiles.items.length > 0) return;
  expect(
    await services.profiles.create(actor, {
      workspace_id: workspace.id,
      name: 'default',
      runtime: 'loop',
      provider,
      model: config.model ?? DEFAULT_MODELS[provider],
      system_prompt: '',
      max_output_tokens: null,
      context_window: null,
      fallback_models: [],
      budgets: {},
      hooks: {},
      parent_question_timeout_seconds: null,
      user_question_timeout_seconds: null,
    }),
  );
}

function expect<T extends object>(outcome: Outcome<T>): T {
  if (isRefusal(outcome)) throw new Error(`first start: ${outcome.code}`);
  return outcome;
}
