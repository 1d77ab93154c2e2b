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

const STAGE = '/mnt';
const PRIVATE_FOLDERS = ['/tmp', '/var/tmp', '/dev/shm'];
const PROBE_TIMEOUT_MS = 5_000;

/** Arguments: root, working folder, shell, command, options of the root's mount; then folders to empty, `--`, pairs of options and mount. */
const SETUP_SCRIPT = `
set -e
root=$1 cwd=$2 shell=$3 command=$4 options=$5
shift 5
hidden=0
while [ "$1" != -- ]; do hidden=$((hidden + 1)); eval "hidden_$hidden=\\$1"; shift; done
shift
while [ $# -gt 0 ]; do mount -n -o "remount,bind,$1" "$2"; shift 2; done
mount -n --rbind "$root" ${STAGE}
mount -n -o "remount,bind,$options" ${STAGE}
while [ $hidden -gt 0 ]; do eval "folder=\\$hidden_$hidden"; mount -n -t tmpfs -o mode=1777 tmpfs "$folder"; hidden=$((hidden - 1)); done
mkdir -p "$root"
mount -n --move ${STAGE} "$root"
cd "$cwd"
set +e
unshare --user --map-current-user --mount -- "$shell" -c "$command"
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
  const rootMount = mounts.filter(({ point }) => isInside(point, root)).at(-1);
  const locked = mounts.filter(isWritable).flatMap((mount) => [readOnlyOptions(mount), mount.point]);
  const emptied = outermost([...PRIVATE_FOLDERS, ...hidden]).filter((folder) => existsSync(folder) && !isInside(root, folder));
  const namespaces = ['--user', '--map-current-user', '--keep-caps', '--mount', '--pid', '--fork', '--kill-child', '--mount-proc'];
  const setup = ['/bin/sh', '-c', SETUP_SCRIPT, 'echelon-sandbox', root, cwd, shell, command, rootMount?.options ?? 'rw'];
  return ['unshare', ...namespaces, '--', ...setup, ...emptied, '--', ...locked];
}

function outermost(folders: readonly string[]): readonly string[] {
  return folders.filter((folder) => !folders.some((other) => other !== folder && isInside(other, folder)));
}

/** /proc is mounted anew. */
function isWritable({ options, point }: Mount): boolean {
  return options.split(',').includes('rw') && !isInside('/proc', point);
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
    const command = `set -e; : > inside; ! : > ${STAGE}/outside; [ "$(cat /proc/[0-9]*/stat | wc -l)" -lt 20 ]`;
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
