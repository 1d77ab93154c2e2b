import type { Database } from '@echelon/persistence';
import type { Outcome } from './outcome.js';

/** An HTTP result as it is replayed: the response is the body's exact text. */
export interface KeyedResult {
  readonly status: number;
  readonly response: string;
}

/** REST calls under a client's key: the first result is returned again for the same key and body (K16). */
export class IdempotencyService {
  constructor(private readonly database: Database) {}

  run(
    tokenId: string,
    key: string,
    body: string,
    work: () => Promise<KeyedResult>,
  ): Promise<Outcome<KeyedResult & { readonly replayed: boolean }>> {
    throw new Error(`not built: ${String([this.database, tokenId, key, body, work])}`);
  }
}
