/**
 * The namespace sandbox of commands: the machine is read-only but for the task folder and private temporary folders, and only the
 * command's own processes can be seen, so that neither another task's files nor this process's environment are in reach.
 * It needs Linux with unprivileged user namespaces and util-linux; the network is not restricted.
 *
 * B1  The mounts are made in one user namespace and the command runs in a second one below it, where the kernel has locked them:
 *     a command that is root there cannot make the machine writable again.
 * B2  If any step fails the command does not run.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { mkdtemp, readFile, realpath, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { isInside } from './confinement.js';
import { parseMounts, readOnlyOptions, type Mount } from './mounts.js';

/** `auto`: the sandbox where the machine has one; `required`: refuse to run commands without; `none`: never. */
export type SandboxChoice = 'auto' | 'required' | 'none';

export interface SandboxDescription {
  readonly kind: 'namespaces' | 'none';
  /** One sentence for `doctor` and the profile page. */
  readonly detail: string;
}

export interface ShellCommand {
  /** Real path of the task folder. */
  readonly root: string;
  readonly cwd: string;
  readonly command: string;
}

/** Emptied, and writable, for each command. */
const PRIVATE_FOLDERS = ['/tmp', '/dev/shm'];
/** Where the task folder waits while the folders above it are emptied: any folder in which nothing is mounted. */
const STAGES = ['/mnt', '/media', '/srv', '/opt', '/home', '/var'];
const PROBE_TIMEOUT_MS = 5_000;

/**
 * Its last shell stays as process 1 and is silenced, so that it does not comment on the command's death.
 * Arguments: stage, root, working folder, shell, command; then folders to empty, `--`, pairs of options and mount.
 */
const SETUP_SCRIPT = `
set -e
stage=$1 root=$2 cwd=$3 shell=$4 command=$5
shift 5
mount -n --rbind "$root" "$stage"
emptied=0
while [ "$1" != -- ]; do emptied=$((emptied + 1)); eval "emptied_$emptied=\\$1"; shift; done
shift
while [ $# -gt 0 ]; do mount -n -o "remount,bind,$1" "$2"; shift 2; done
while [ $emptied -gt 0 ]; do eval "folder=\\$emptied_$emptied"; mount -n -t tmpfs -o mode=1777 tmpfs "$folder"; emptied=$((emptied - 1)); done
[ -d "$root" ] || mkdir -p "$root"
mount -n --move "$stage" "$root"
cd "$cwd"
set +e
exec 4>&2 2>/dev/null
unshare --user --map-current-user --mount -- "$shell" -c "$command" 2>&4 4>&-
exit $?
`;

const shell = existsSync('/bin/bash') ? '/bin/bash' : '/bin/sh';

/** The program and arguments that run a shell command without a sandbox. */
export function plainArguments({ command }: ShellCommand): string[] {
  return [shell, '-c', command];
}

/** The program and arguments that run a shell command in the sandbox; `hidden` folders look empty to it. */
export async function sandboxedArguments({ root, cwd, command }: ShellCommand, hidden: readonly string[]): Promise<string[]> {
  const mounts = parseMounts(await readFile('/proc/self/mountinfo', 'utf8'));
  const emptied = outermost([...PRIVATE_FOLDERS, ...hidden, ...splitControlGroups(mounts)]).filter(
    (folder) => existsSync(folder) && !isInside(root, folder),
  );
  const locked = mounts.filter((mount) => isWritable(mount) && !['/proc', ...emptied].some((folder) => isInside(folder, mount.point)));
  const stage = STAGES.find(
    (folder) => existsSync(folder) && !isInside(folder, root) && !mounts.some(({ point }) => isInside(folder, point)),
  );
  const namespaces = ['--user', '--map-current-user', '--keep-caps', '--mount', '--pid', '--fork', '--kill-child', '--mount-proc'];
  const setup = ['/bin/sh', '-c', SETUP_SCRIPT, 'echelon-sandbox', stage ?? '/mnt', root, cwd, shell, command];
  const pairs = locked.flatMap((mount) => [readOnlyOptions(mount), mount.point]);
  return ['unshare', ...namespaces, '--', ...setup, ...emptied, '--', ...pairs];
}

function outermost(folders: readonly string[]): readonly string[] {
  return folders.filter((folder) => !folders.some((other) => other !== folder && isInside(other, folder)));
}

/** The first version of control groups has a mount for each controller: emptying their folder is cheaper than locking each. */
function splitControlGroups(mounts: readonly Mount[]): readonly string[] {
  const folder = '/sys/fs/cgroup';
  return mounts.filter(({ point }) => isInside(folder, point)).length > 1 ? [folder] : [];
}

function isWritable({ options }: Mount): boolean {
  return options.split(',').includes('rw');
}

let probed: Promise<SandboxDescription> | null = null;

/** What sandbox this machine has, tried once per process by running a command in it. */
export async function describeSandbox(): Promise<SandboxDescription> {
  probed ??= probe();
  return await probed;
}

async function probe(): Promise<SandboxDescription> {
  if (process.platform !== 'linux') return none('namespaces exist on Linux only');
  const root = await realpath(await mkdtemp(join(tmpdir(), 'echelon-sandbox-')));
  try {
    const command = `set -e; : > inside; ! : > /outside; [ "$(cat /proc/[0-9]*/stat | wc -l)" -lt 20 ]`;
    const failure = await run(await sandboxedArguments({ root, cwd: root, command }, []));
    if (failure !== null) return none(failure);
    return {
      kind: 'namespaces',
      detail: 'Commands run in namespaces of their own: read-only but for the task folder, other processes hidden.',
    };
  } finally {
    await rm(root, { recursive: true, force: true });
  }
}

function none(reason: string): SandboxDescription {
  return { kind: 'none', detail: `Commands run without a sandbox (${reason}): they can do what the account of this process can do.` };
}

/** Null on success, else what was said. */
async function run([program = '', ...args]: readonly string[]): Promise<string | null> {
  const child = spawn(program, args, { stdio: ['ignore', 'ignore', 'pipe'], timeout: PROBE_TIMEOUT_MS, killSignal: 'SIGKILL' });
  let said = '';
  child.stderr.on('data', (bytes: Buffer) => (said += bytes.toString().slice(0, 500)));
  try {
    const [code] = (await once(child, 'close')) as [number | null];
    return code === 0 ? null : said.trim().split('\n')[0] || `the trial ended with ${code}`;
  } catch {
    return 'unshare of util-linux is not installed';
  }
}
