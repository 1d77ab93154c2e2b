/** Idempotency by business key (K16): keys and bodies are compared by hash. */
import { createHash } from 'node:crypto';
import { canonicalJson, canonicalText } from '@echelon/domain';
import { violatedConstraint } from '@echelon/persistence';

const ENTRY_KEY = 'queue_entry_idempotency_scope_idempotency_key_hash_key';

/** Hash of a key as it was given, in its canonical form. */
export function hashKey(key: string): Buffer {
  return sha256(canonicalText(key));
}

/** Hash of a body: equal for equal values, whatever the order of their fields. */
export function hashBody(body: unknown): Buffer {
  return sha256(canonicalJson(body));
}

/**
 * Runs what stores a queue entry under a key. Two calls under one key to different tasks hold no common lock: the one that the
 * unique index stops runs again and finds the other's entry.
 */
export async function oncePerKey<T>(store: () => Promise<T>): Promise<T> {
  try {
    return await store();
  } catch (error) {
    if (violatedConstraint(error) !== ENTRY_KEY) throw error;
    return store();
  }
}

function sha256(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}
