export type MigrationErrorCode =
  | 'database_in_use'
  | 'database_newer'
  | 'database_unreachable'
  | 'migration_changed'
  | 'migration_failed'
  | 'migration_running'
  | 'migration_unfinished'
  | 'restore_lost'
  | 'restore_running'
  | 'role_missing';

/** The database cannot be brought to this program's schema, or not now; `message` is one sentence that says what to do. */
export class MigrationError extends Error {
  constructor(
    readonly code: MigrationErrorCode,
    message: string,
    options?: ErrorOptions,
  ) {
    super(message, options);
    this.name = 'MigrationError';
  }
}
