import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { COMMAND_ID_VARIABLE, type CommandProcess } from './command-process.js';

/**
 * Reads one line from the pipe that only our process holds. `done`: the command has ended. End of the pipe: our process has died,
 * so the group is killed, and then whatever carries the command's id outside the group, until nothing is found.
 */
const GUARD_SCRIPT = `
trap '' HUP INT TERM
IFS= read -r word
[ "$word" = done ] && exit 0
round=0
while [ $round -lt 5 ]; do
  kill -s KILL -- "-$1" 2>/dev/null
  strays=$(grep -ls -- "${COMMAND_ID_VARIABLE}=$2" /proc/[0-9]*/environ 2>/dev/null)
  [ -z "$strays" ] && exit 0
  for stray in $strays; do
    stray=\${stray#/proc/}
    kill -s KILL "\${stray%/environ}" 2>/dev/null
  done
  round=$((round + 1))
done
`;

/** The guard of one command: a shell of a few hundred kilobytes in a session of its own (K21). */
export interface CommandGuard {
  /** Resolves when the guard is gone before it was released: the command has lost its protection. */
  readonly lost: Promise<void>;
  /** Ends the guard; to be called when the command has ended. */
  release(): Promise<void>;
}

/** Starts the guard of `command`; rejects when it cannot be started. */
export async function startGuard(command: CommandProcess): Promise<CommandGuard> {
  const guard = spawn('/bin/sh', ['-c', GUARD_SCRIPT, 'echelon-guard', String(command.group), command.id], {
    cwd: '/',
    detached: true,
    env: { PATH: '/usr/bin:/bin' },
    stdio: ['pipe', 'ignore', 'ignore'],
  });
  const exit = new Promise<void>((resolve) => guard.once('exit', () => resolve()));
  // A guard that was killed closes its end of the pipe; `lost` tells of that.
  guard.stdin.on('error', () => undefined);
  await once(guard, 'spawn');
  return {
    lost: exit,
    release: async () => {
      guard.stdin.end('done\n');
      await exit;
    },
  };
}
