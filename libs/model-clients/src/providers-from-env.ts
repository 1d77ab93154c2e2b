/** The providers that an environment describes. Keys come from here and from nowhere else. */
import type { ProviderConfig } from './provider-config.js';

export type ProviderName = 'openai' | 'anthropic' | 'compatible' | 'scripted';

/** The model of a provider where nobody names one. */
export const DEFAULT_MODELS: Readonly<Record<ProviderName, string>> = {
  openai: 'gpt-5',
  anthropic: 'claude-sonnet-4-5',
  compatible: 'default',
  scripted: 'scripted-demo',
};

type Environment = Readonly<Record<string, string | undefined>>;

/**
 * Reads the providers by name: `openai` (OPENAI_API_KEY, OPENAI_BASE_URL), `anthropic` (ANTHROPIC_API_KEY,
 * ANTHROPIC_BASE_URL), `compatible` (ECHELON_MODEL_BASE_URL, ECHELON_MODEL_API_KEY,
 * ECHELON_MODEL_REPEATS_CALL_IDS=true) and `scripted` (ECHELON_SCRIPTED_MODEL_URL). One that is not set up is there and says which variable is missing.
 */
export function providersFromEnv(env: Environment): Readonly<Record<ProviderName, ProviderConfig>> {
  return {
    openai: vendor('openai_responses', { name: 'OPENAI', env, toBaseUrl: (url) => url }),
    anthropic: vendor('anthropic_messages', { name: 'ANTHROPIC', env, toBaseUrl: withVersion }),
    compatible: {
      ...endpoint(env, 'ECHELON_MODEL_BASE_URL'),
      ...(env.ECHELON_MODEL_API_KEY ? { apiKey: env.ECHELON_MODEL_API_KEY } : {}),
      ...(env.ECHELON_MODEL_REPEATS_CALL_IDS === 'true' ? { repeatsCallIds: true } : {}),
    },
    scripted: endpoint(env, 'ECHELON_SCRIPTED_MODEL_URL'),
  };
}

/** The provider to begin with: the first one that the environment sets up. */
export function chooseProvider(env: Environment): ProviderName | null {
  const providers = providersFromEnv(env);
  const order: readonly ProviderName[] = ['compatible', 'anthropic', 'openai', 'scripted'];
  return order.find((name) => providers[name].unavailable === undefined) ?? null;
}

interface VendorVariables {
  readonly name: string;
  readonly env: Environment;
  readonly toBaseUrl: (url: string) => string;
}

function vendor(dialect: ProviderConfig['dialect'], { name, env, toBaseUrl }: VendorVariables): ProviderConfig {
  const apiKey = env[`${name}_API_KEY`];
  const url = env[`${name}_BASE_URL`];
  if (!apiKey && !url) return { dialect, unavailable: `${name}_API_KEY is not set` };
  return { dialect, ...(url ? { baseUrl: toBaseUrl(url) } : {}), ...(apiKey ? { apiKey } : {}) };
}

function endpoint(env: Environment, variable: string): ProviderConfig {
  const baseUrl = env[variable];
  return { dialect: 'chat_completions', ...(baseUrl ? { baseUrl } : { unavailable: `${variable} is not set` }) };
}

/** Other programs want this variable without the version, so both spellings are taken. */
function withVersion(url: string): string {
  const base = url.replace(/\/+$/, '');
  return /\/v\d+$/.test(base) ? base : `${base}/v1`;
}
