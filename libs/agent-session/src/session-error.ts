export type SessionErrorCode =
  'store_unusable' | 'session_not_found' | 'session_in_use' | 'session_busy' | 'nothing_to_retry' | 'nothing_to_resume';

/** A session that cannot do what it was asked for; `message` is one sentence for a person. */
export class SessionError extends Error {
  override readonly name = 'SessionError';

  constructor(
    readonly code: SessionErrorCode,
    message: string,
    options?: ErrorOptions,
  ) {
    super(message, options);
  }
}
