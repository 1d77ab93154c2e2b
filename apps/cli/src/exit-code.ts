/** How the command ends, for scripts. */
import { ApiError, ConnectionError } from '@echelon/api-client';
import { StartupError } from '@echelon/embedded-postgres';
import { ConfigError, MigrationError } from '@echelon/platform/start';
import { CommanderError } from 'commander';

export const EXIT = { ok: 0, failed: 1, usage: 2, unreachable: 3, cannotStart: 4, interrupted: 130 } as const;

/** A failure that a command words itself. */
export class CommandError extends Error {
  constructor(
    message: string,
    readonly exitCode: number = EXIT.failed,
  ) {
    super(message);
  }
}

/** The exit code of a failure, and the sentence for the person at the terminal. */
export function explainFailure(error: unknown): { readonly code: number; readonly message: string } {
  if (error instanceof CommanderError) return { code: error.exitCode === 0 ? EXIT.ok : EXIT.usage, message: '' };
  if (error instanceof CommandError) return { code: error.exitCode, message: error.message };
  if (error instanceof ApiError) return { code: EXIT.failed, message: error.message };
  if (error instanceof ConnectionError)
    return { code: EXIT.unreachable, message: `${error.message}. Is Echelon running? Start it with npm start.` };
  if (error instanceof ConfigError || error instanceof StartupError || error instanceof MigrationError)
    return { code: EXIT.cannotStart, message: error.message };
  if (isAddressUnknown(error)) return { code: EXIT.cannotStart, message: 'This machine does not have the address in ECHELON_HOST.' };
  return { code: EXIT.failed, message: error instanceof Error ? error.message : String(error) };
}

function isAddressUnknown(error: unknown): boolean {
  return error instanceof Error && 'code' in error && (error.code === 'EADDRNOTAVAIL' || error.code === 'ENOTFOUND');
}
