export { createModelClient } from './model-client.js';
export type { ModelDialect, ProviderConfig } from './provider-config.js';
export { providersFromEnv, type ProviderName } from './providers-from-env.js';
