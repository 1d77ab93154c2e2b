import { DEFAULT_LIMITS } from '@echelon/domain';
import type { Logger, Services } from '@echelon/orchestration';
import type { Health } from './health.js';
import type { ToolCatalogue } from '@echelon/tools';
import type { Metrics } from './metrics.js';

export interface ServerConfig {
  /** Host names, without ports, that requests may name beside loopback and the address listened on. */
  readonly allowedHosts: readonly string[];
  /** Requests per token and minute; 0 is unlimited. */
  readonly requestsPerMinute: number;
  readonly maxBodyBytes: number;
  /** Silence on an event stream is broken by a comment this often. */
  readonly heartbeatMs: number;
  /** Bytes that a client of the event stream may be behind before it is disconnected; it resumes. */
  readonly maxStreamBacklogBytes: number;
  /** Longest that a request may still run once the server closes. */
  readonly drainMs: number;
}

export const DEFAULT_SERVER_CONFIG: ServerConfig = {
  allowedHosts: [],
  requestsPerMinute: DEFAULT_LIMITS.requests_per_token_minute,
  maxBodyBytes: DEFAULT_LIMITS.request_body_bytes,
  heartbeatMs: 15_000,
  maxStreamBacklogBytes: 1024 * 1024,
  drainMs: 5_000,
};

export interface ServerOptions {
  readonly services: Services;
  readonly tools: ToolCatalogue;
  readonly logger: Logger;
  readonly metrics: Metrics;
  readonly health: () => Promise<Health>;
  readonly config?: Partial<ServerConfig>;
}
