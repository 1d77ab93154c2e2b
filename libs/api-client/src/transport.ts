import { ConnectionError, toApiError } from './problem.js';

export interface ClientOptions {
  /** Where the server listens, such as `http://127.0.0.1:4100`. */
  readonly baseUrl: string;
  readonly token: string;
  /** Another `fetch`; the platform's own where absent. */
  readonly fetch?: typeof fetch;
}

/** What every call takes besides its own input. */
export interface CallOptions {
  readonly signal?: AbortSignal;
}
/** A creating call: the same key and body return the first result again. */
export interface CreateOptions extends CallOptions {
  readonly idempotencyKey?: string;
}

export interface ApiRequest {
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  /** Below `/api/v1`; ids in it are already encoded. */
  readonly path: string;
  /** Values that are absent are left out, lists are joined by commas. */
  readonly query?: object;
  readonly body?: object;
  readonly headers?: Readonly<Record<string, string>>;
  readonly signal?: AbortSignal | undefined;
}

/** Sends requests to one server with one token. */
export class Transport {
  readonly #base: string;
  readonly #fetch: typeof fetch;

  constructor(private readonly options: ClientOptions) {
    this.#base = `${options.baseUrl.replace(/\/+$/, '')}/api/v1`;
    this.#fetch = options.fetch ?? fetch;
  }

  /** The body of a successful answer; throws ApiError, ConnectionError, or the signal's reason. */
  async call<T>(request: ApiRequest): Promise<T> {
    return (await (await this.open(request)).json()) as T;
  }

  /** A successful answer with its body unread. */
  async open({ method, path, query, body, headers, signal }: ApiRequest): Promise<Response> {
    const url = `${this.#base}${path}${search(query)}`;
    const init: RequestInit = {
      method,
      headers: {
        authorization: `Bearer ${this.options.token}`,
        ...(body ? { 'content-type': 'application/json' } : {}),
        ...headers,
      },
      ...(body ? { body: JSON.stringify(body) } : {}),
      ...(signal ? { signal } : {}),
    };
    const response = await this.#send(url, init);
    if (!response.ok) throw await toApiError(response);
    return response;
  }

  async #send(url: string, init: RequestInit): Promise<Response> {
    try {
      return await this.#fetch(url, init);
    } catch (error) {
      init.signal?.throwIfAborted();
      throw new ConnectionError(url, error);
    }
  }
}

type QueryValue = string | number | boolean | readonly string[] | null | undefined;

function search(query: object = {}): string {
  const given = new URLSearchParams();
  for (const [name, value] of Object.entries(query) as [string, QueryValue][]) {
    if (value !== undefined && value !== null) given.set(name, typeof value === 'object' ? value.join(',') : String(value));
  }
  return given.size === 0 ? '' : `?${given.toString()}`;
}
