export { createModelClient } from './model-client.js';
export type { ModelDialect, ProviderConfig } from './provider-config.js';
export { chooseProvider, DEFAULT_MODELS, providersFromEnv, type ProviderName } from './providers-from-env.js';
