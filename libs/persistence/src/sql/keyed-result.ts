/** Results of REST calls under a client's key (K16). A row without a status is a call that has not returned. */
import type { Tx } from '../database.js';

export interface CallKey {
  readonly tokenId: string;
  readonly keyHash: Buffer;
  readonly bodyHash: Buffer;
}

export interface KeyedCall {
  readonly body_hash: Buffer;
  readonly status: number | null;
  readonly response: string | null;
}

/**
 * Claims a key for one call: `true` for whoever may work now. A claim whose process never returned is taken over after
 * `abandonedAfterSeconds`, by a call with the same body only.
 */
export async function claimKey(tx: Tx, key: CallKey, abandonedAfterSeconds: number): Promise<boolean> {
  const rows = await tx.query(
    `INSERT INTO idempotency_record AS r (token_id, key_hash, body_hash) VALUES ($1, $2, $3)
     ON CONFLICT (token_id, key_hash) DO UPDATE SET created_at = now()
       WHERE r.status IS NULL AND r.body_hash = $3 AND r.created_at < now() - $4 * interval '1 second' RETURNING 1`,
    [key.tokenId, key.keyHash, key.bodyHash, abandonedAfterSeconds],
  );
  return rows.length > 0;
}

export async function findKeyedCall(tx: Tx, key: CallKey): Promise<KeyedCall | null> {
  const [row] = await tx.query<KeyedCall>(
    'SELECT body_hash, status, response FROM idempotency_record WHERE token_id = $1 AND key_hash = $2',
    [key.tokenId, key.keyHash],
  );
  return row ?? null;
}

export async function storeKeyedResult(
  tx: Tx,
  key: CallKey,
  result: { readonly status: number; readonly response: string },
): Promise<void> {
  await tx.query('UPDATE idempotency_record SET status = $3, response = $4 WHERE token_id = $1 AND key_hash = $2', [
    key.tokenId,
    key.keyHash,
    result.status,
    result.response,
  ]);
}

/** Frees a key whose call had no result worth keeping: the client may try again. */
export async function releaseKey(tx: Tx, key: CallKey): Promise<void> {
  await tx.query('DELETE FROM idempotency_record WHERE token_id = $1 AND key_hash = $2 AND status IS NULL', [key.tokenId, key.keyHash]);
}
