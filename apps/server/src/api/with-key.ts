import type { SendMessage } from '@echelon/contracts';
import { ProblemError } from '../http/problem.js';

/** A message under the key of its header; header and body may not name different keys. */
export function withKey(message: SendMessage, key: string | null): SendMessage {
  if (key === null || key === message.idempotency_key) return message;
  if (message.idempotency_key === undefined) return { ...message, idempotency_key: key };
  throw new ProblemError('INVALID_INPUT', { errors: [{ path: 'idempotency_key', rule: 'Must equal the Idempotency-Key header' }] });
}
