/** Idempotency by business key (K16): keys and bodies are compared by hash. */
import { createHash } from 'node:crypto';
import { canonicalJson, canonicalText } from '@echelon/domain';

/** Hash of a key as it was given, in its canonical form. */
export function hashKey(key: string): Buffer {
  return sha256(canonicalText(key));
}

/** Hash of a body: equal for equal values, whatever the order of their fields. */
export function hashBody(body: unknown): Buffer {
  return sha256(canonicalJson(body));
}

function sha256(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}
