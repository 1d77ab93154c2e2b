import { createHash, randomBytes } from 'node:crypto';

const PREFIXES = { operator: 'ech_op_', session: 'ech_ag_' } as const;
const SECRET_BYTES = 32;

/** A fresh secret, and the hash under which it is stored. */
export function newSecret(kind: keyof typeof PREFIXES): { readonly secret: string; readonly hash: Buffer } {
  const secret = PREFIXES[kind] + randomBytes(SECRET_BYTES).toString('base64url');
  return { secret, hash: hashSecret(secret) };
}

export function hashSecret(secret: string): Buffer {
  return createHash('sha256').update(secret).digest();
}
