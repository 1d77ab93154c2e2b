import { createHash } from 'node:crypto';
import { refuse } from '@echelon/domain';
import { type CallKey, claimKey, type Database, findKeyedCall, releaseKey, storeKeyedResult } from '@echelon/persistence';
import type { Outcome } from './outcome.js';

/** An HTTP result as it is replayed: the response is the body's exact text. */
export interface KeyedResult {
  readonly status: number;
  readonly response: string;
}

/** A call whose process died is taken over after this time; longer than any request may last. */
const ABANDONED_AFTER_SECONDS = 60;
const TOO_MANY_REQUESTS = 429;
const SERVER_FAULT = 500;

/** REST calls under a client's key: the first result is returned again for the same key and body (K16). */
export class IdempotencyService {
  constructor(private readonly database: Database) {}

  /**
   * Runs `work` once for a token's key, and returns its result to every later call with the same body. `body` is the call in
   * canonical form, method and path included. Refuses another body with IDEMPOTENCY_MISMATCH, and a call while the first one
   * runs with CONFLICT. What the client is meant to retry (429, 5xx, an exception) frees the key.
   */
  async run(
    tokenId: string,
    key: string,
    body: string,
    work: () => Promise<KeyedResult>,
  ): Promise<Outcome<KeyedResult & { readonly replayed: boolean }>> {
    const call = { tokenId, keyHash: hash(key), bodyHash: hash(body) };
    if (!(await claimKey(this.database, call, ABANDONED_AFTER_SECONDS))) return this.#replay(call);
    try {
      const result = await work();
      await (isFinal(result.status) ? storeKeyedResult(this.database, call, result) : releaseKey(this.database, call));
      return { ...result, replayed: false };
    } catch (error) {
      await releaseKey(this.database, call);
      throw error;
    }
  }

  async #replay(call: CallKey): Promise<Outcome<KeyedResult & { readonly replayed: boolean }>> {
    const earlier = await findKeyedCall(this.database, call);
    if (earlier && !earlier.body_hash.equals(call.bodyHash)) return refuse('IDEMPOTENCY_MISMATCH');
    if (earlier?.status == null || earlier.response === null)
      return refuse('CONFLICT', { rule: 'the first call with this key is running' });
    return { status: earlier.status, response: earlier.response, replayed: true };
  }
}

function isFinal(status: number): boolean {
  return status < SERVER_FAULT && status !== TOO_MANY_REQUESTS;
}

/** Keys and bodies may be long; they are indexed and compared by hash. */
function hash(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}
