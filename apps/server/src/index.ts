export type { Health, HealthCheck } from './health.js';
export { createMetrics, type Metrics } from './metrics.js';
export { createPlatformServer } from './serve.js';
export { createServer, type Server } from './server.js';
export type { ServerConfig, ServerOptions } from './server-options.js';
