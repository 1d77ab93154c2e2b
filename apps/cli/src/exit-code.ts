/** How the command ends, for scripts. */
import { SessionError, type SessionErrorCode } from '@echelon/agent-session';
import { ApiError, ConnectionError } from '@echelon/api-client';
import type { ErrorCode } from '@echelon/contracts';
import { StartupError } from '@echelon/embedded-postgres';
import { ConfigError, MigrationError } from '@echelon/platform/start';
import { CommanderError } from 'commander';

/** The one table (docs/cli.md); `turnCap` and `budget` are limits that a run was given. */
export const EXIT = { ok: 0, failed: 1, usage: 2, unreachable: 3, cannotStart: 4, turnCap: 53, budget: 55, interrupted: 130 } as const;

const SESSION_EXIT: Readonly<Record<SessionErrorCode, number>> = {
  session_not_found: EXIT.usage,
  nothing_to_retry: EXIT.usage,
  nothing_to_resume: EXIT.usage,
  store_unusable: EXIT.cannotStart,
  session_in_use: EXIT.cannotStart,
  session_busy: EXIT.failed,
};

/** A failure that a command words itself. */
export class CommandError extends Error {
  constructor(
    message: string,
    readonly exitCode: number = EXIT.failed,
  ) {
    super(message);
  }
}

export interface Failure {
  readonly exitCode: number;
  /** The sentence for the person at the terminal; empty where everything is said. */
  readonly message: string;
  /** The server's code of a refusal. */
  readonly code: ErrorCode | null;
}

/** How the command ends with a failure, and what it says of it. */
export function explainFailure(error: unknown): Failure {
  return { code: error instanceof ApiError ? error.code : null, ...explain(error) };
}

function explain(error: unknown): Pick<Failure, 'exitCode' | 'message'> {
  if (error instanceof CommanderError) return explainUsage(error);
  if (error instanceof CommandError) return { exitCode: error.exitCode, message: error.message };
  if (error instanceof SessionError) return { exitCode: SESSION_EXIT[error.code], message: error.message };
  if (error instanceof ApiError) return { exitCode: EXIT.failed, message: error.message };
  if (error instanceof ConnectionError)
    return { exitCode: EXIT.unreachable, message: `${error.message}. Is Echelon running? Start it with npm start.` };
  if (error instanceof ConfigError || error instanceof StartupError || error instanceof MigrationError)
    return { exitCode: EXIT.cannotStart, message: error.message };
  if (isAddressUnknown(error)) return { exitCode: EXIT.cannotStart, message: 'This machine does not have the address in ECHELON_HOST.' };
  return { exitCode: EXIT.failed, message: error instanceof Error ? error.message : String(error) };
}

/** Help that was asked for is no failure; what cannot be parsed is told with the way to the help. */
function explainUsage({ exitCode, code, message }: CommanderError): Pick<Failure, 'exitCode' | 'message'> {
  if (exitCode === 0) return { exitCode: EXIT.ok, message: '' };
  const said = code === 'commander.help' ? 'A command is missing.' : message.replace(/^error: /, '').replaceAll('\n', ' ');
  return { exitCode: EXIT.usage, message: `${said} (--help lists what there is)` };
}

function isAddressUnknown(error: unknown): boolean {
  return error instanceof Error && 'code' in error && (error.code === 'EADDRNOTAVAIL' || error.code === 'ENOTFOUND');
}
