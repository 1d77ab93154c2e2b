/**
 * Who hears that its tools are others now: the streams of `subscriptions/listen` (2026-07-28) and the GET streams of the 2025
 * versions (D5, D6). Each follows the contract of its own session, wherever that changes.
 *
 * T1  A subscriber starts from the contract that its request was admitted with: what changes while it is joined is not missed.
 */
import { AsyncLocalStorage } from 'node:async_hooks';
import type { Logger, Services } from '@echelon/orchestration';
import type { ServerEvent, ServerEventBus } from '@modelcontextprotocol/server';
import type { Metrics } from '../metrics.js';
import type { McpCaller } from './mcp-server.js';

export interface ToolListChangesOptions {
  readonly contracts: Services['contracts'];
  readonly metrics: Metrics;
  readonly logger: Logger;
}

/** The SDK's bus is one for all clients: whose stream subscribes is known by the request that it is opened in. */
export class ToolListChanges implements ServerEventBus {
  readonly #callers = new AsyncLocalStorage<McpCaller>();

  constructor(private readonly options: ToolListChangesOptions) {}

  /** Serves a request of a caller; streams that it opens follow that caller's tools. */
  serve<T>(caller: McpCaller, work: () => T): T {
    return this.#callers.run(caller, work);
  }

  subscribe(listener: (event: ServerEvent) => void): () => void {
    const caller = this.#callers.getStore();
    if (!caller) throw new Error('a subscription belongs to a request');
    return this.follow(caller, () => listener({ kind: 'tools_list_changed' }));
  }

  /** Calls the listener at each change of the caller's tools until the returned function is called; an operator's never change. */
  follow({ actor, contract }: McpCaller, onChange: () => void): () => void {
    if (actor.kind === 'operator') return () => undefined;
    const { contracts, metrics, logger } = this.options;
    const onError = (error: unknown) => logger.warn({ error, sessionId: actor.sessionId }, 'mcp.tools_not_read');
    const leaving = new AbortController();
    const watching = contracts.watch(actor, { seen: contract, onChange, onError });
    watching.then((leave) => (leaving.signal.aborted ? leave() : leaving.signal.addEventListener('abort', leave)), onError);
    metrics.mcpSubscriptions.inc();
    return () => {
      if (leaving.signal.aborted) return;
      leaving.abort();
      metrics.mcpSubscriptions.dec();
    };
  }

  /** Changes come from the sessions: nobody publishes here. */
  publish(): void {}
}
