import type { CallOptions, CreateOptions, Transport } from './transport.js';

type Write = 'POST' | 'PUT' | 'PATCH' | 'DELETE';

/** The three shapes of a call: read, change, create. */
export class Calls {
  constructor(private readonly transport: Transport) {}

  readonly get = <T>(path: string, query: object = {}, { signal }: CallOptions = {}): Promise<T> =>
    this.transport.call({ method: 'GET', path, query, signal });

  readonly send = <T>(method: Write, path: string, body?: object, { signal, idempotencyKey }: CreateOptions = {}): Promise<T> =>
    this.transport.call({ method, path, ...(body ? { body } : {}), signal, ...keyed(idempotencyKey) });

  readonly create = <T>(path: string, body: object, options?: CreateOptions): Promise<T> => this.send('POST', path, body, options);
}

function keyed(idempotencyKey: string | undefined) {
  return idempotencyKey === undefined ? {} : { headers: { 'idempotency-key': idempotencyKey } };
}

/** A path whose ids are encoded, so that none can name another route. */
export function at(texts: TemplateStringsArray, ...ids: readonly string[]): string {
  return String.raw({ raw: texts }, ...ids.map(encodeURIComponent));
}
