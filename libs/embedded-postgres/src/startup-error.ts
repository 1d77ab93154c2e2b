export type StartupErrorCode =
  | 'binaries_missing'
  | 'cannot_run_as_root'
  | 'data_dir_in_use'
  | 'disk_full'
  | 'marker_unreadable'
  | 'no_permission'
  | 'password_missing'
  | 'port_in_use'
  | 'postgres_failed'
  | 'version_mismatch';

/** A start that cannot succeed; `message` is one sentence for the person at the terminal, saying what to do. */
export class StartupError extends Error {
  constructor(
    readonly code: StartupErrorCode,
    message: string,
    options?: ErrorOptions,
  ) {
    super(message, options);
    this.name = 'StartupError';
  }
}

const DISK_FULL = /ENOSPC|EDQUOT|No space left on device|Disk quota exceeded/i;
const NO_PERMISSION =
  /EACCES|EPERM|EROFS|ENOENT: no such file or directory, mkdir|ENOTDIR|EEXIST|Permission denied|Operation not permitted|Read-only file system|wrong ownership/i;
const PORT_IN_USE = /EADDRINUSE|Address already in use/i;

/** Turns what the operating system or Postgres said about `dataDir` into one sentence; a `StartupError` passes unchanged. */
export function toStartupError(cause: unknown, dataDir: string): StartupError {
  if (cause instanceof StartupError) return cause;
  const said = String(cause).replace(/^Error: /, '');
  if (DISK_FULL.test(said)) {
    return new StartupError('disk_full', `The disk that holds ${dataDir} is full: free some space and start again.`, { cause });
  }
  if (isPortInUse(cause)) {
    return new StartupError('port_in_use', 'The port asked for Postgres is taken: choose another one, or none for a free one.', { cause });
  }
  if (NO_PERMISSION.test(said)) {
    const message = `This account may not write to ${dataDir}: correct its owner, or set ECHELON_DATA_DIR to another folder.`;
    return new StartupError('no_permission', message, { cause });
  }
  return new StartupError('postgres_failed', `Postgres did not start in ${dataDir}: ${reason(said)}`, { cause });
}

export function isPortInUse(cause: unknown): boolean {
  return PORT_IN_USE.test(String(cause));
}

/** The line of a Postgres log that says why, else the last one. */
function reason(log: string): string {
  const lines = log.trim().split('\n');
  return lines.findLast((line) => /FATAL|PANIC|error:/.test(line)) ?? lines.at(-1) ?? '';
}
