/**
 * The identity of a running command, as it is stored in its call's row (K21): by it a command is found again, and killed, by a
 * process that did not start it.
 */
import { randomUUID } from 'node:crypto';
import { readFileSync, readdirSync } from 'node:fs';
import { readFile, readdir } from 'node:fs/promises';
import { hostname } from 'node:os';
import { setTimeout as wait } from 'node:timers/promises';
import { hasCode } from './refusal.js';

export interface CommandProcess {
  /** Also in the environment of the command and of all that it starts, as `ECHELON_COMMAND_ID`. */
  readonly id: string;
  /** Process group, on `host`. */
  readonly group: number;
  readonly host: string;
  /** RFC 3339 UTC, by the host's clock; for people. */
  readonly started_at: string;
  /** Boot and start tick of the group's leader, so that a reused number is not taken for the command; null without /proc. */
  readonly incarnation: string | null;
}

export const COMMAND_ID_VARIABLE = 'ECHELON_COMMAND_ID';
const POLL_MS = 10;
/** A stray may start another while it is being looked for. */
const STRAY_ROUNDS = 5;

export function newCommandId(): string {
  return randomUUID();
}

export function identifyCommand(id: string, group: number): CommandProcess {
  return { id, group, host: hostname(), started_at: new Date().toISOString(), incarnation: incarnationOf(group) };
}

/** `released`: nothing of its group is left. `unreachable`: it ran on another host, where it may still be running. */
export type CommandPresence = 'running' | 'released' | 'unreachable';

/** Whether the group of a command recorded earlier still exists (K21). */
export function findCommand(command: CommandProcess): CommandPresence {
  if (command.host !== hostname()) return 'unreachable';
  if (!groupExists(command.group)) return 'released';
  const leader = incarnationOf(command.group);
  const isReused = leader !== null && command.incarnation !== null && leader !== command.incarnation;
  return isReused ? 'released' : 'running';
}

/** Kills a command recorded earlier, its group and what left the group; does nothing when it is gone or on another host. */
export async function killCommand(command: CommandProcess): Promise<void> {
  if (command.host !== hostname()) return;
  if (findCommand(command) === 'running') signalGroup(command.group, 'SIGKILL');
  await killStrays(command.id);
}

/** Ends a group: SIGTERM, after `graceMs` SIGKILL. Resolves when nobody is left or, for what cannot be killed, a second later. */
export async function endGroup(group: number, graceMs: number): Promise<void> {
  signalGroup(group, 'SIGTERM');
  if (await groupEnds(group, graceMs)) return;
  signalGroup(group, 'SIGKILL');
  await groupEnds(group, 1_000);
}

/** Waits until the group has no member; false after `timeoutMs`. */
export async function groupEnds(group: number, timeoutMs: number): Promise<boolean> {
  const deadline = performance.now() + timeoutMs;
  while (groupExists(group)) {
    if (performance.now() >= deadline) return false;
    await wait(POLL_MS);
  }
  return true;
}

/** Kills what carries the command's id but has left its group, such as a daemon in a session of its own. Returns how many. Linux only. */
export async function killStrays(id: string): Promise<number> {
  let killed = 0;
  for (let round = 0; round < STRAY_ROUNDS; round += 1) {
    const strays = await findStrays(id);
    if (strays.length === 0) break;
    for (const pid of strays) signal(pid, 'SIGKILL');
    killed += strays.length;
    await wait(POLL_MS);
  }
  return killed;
}

async function findStrays(id: string): Promise<number[]> {
  if (process.platform !== 'linux') return [];
  const pids = (await readdir('/proc')).filter((name) => /^\d+$/.test(name));
  const carriers = await Promise.all(
    pids.map(async (pid) => ((await environmentOf(pid)).includes(`${COMMAND_ID_VARIABLE}=${id}`) ? [Number(pid)] : [])),
  );
  return carriers.flat();
}

/** Empty for a process that is gone, is a zombie or belongs to someone else. */
async function environmentOf(pid: string): Promise<string> {
  try {
    return await readFile(`/proc/${pid}/environ`, 'latin1');
  } catch {
    return '';
  }
}

/** The dead count no more, although their number is taken until init collects them; in a container nobody may. */
function groupExists(group: number): boolean {
  if (!signal(-group, 0)) return false;
  return process.platform !== 'linux' || readdirSync('/proc').some((pid) => isLivingMember(pid, group));
}

function isLivingMember(pid: string, group: number): boolean {
  const [state = '', , processGroup] = /^\d+$/.test(pid) ? readStat(pid) : [];
  return Number(processGroup) === group && !'ZX'.includes(state);
}

function signalGroup(group: number, name: NodeJS.Signals): void {
  signal(-group, name);
}

/** False when there is no such process; one that we may not signal exists. */
function signal(target: number, name: NodeJS.Signals | 0): boolean {
  try {
    return process.kill(target, name);
  } catch (error) {
    if (hasCode(error, 'ESRCH')) return false;
    if (hasCode(error, 'EPERM')) return true;
    throw error;
  }
}

function incarnationOf(pid: number): string | null {
  const startTick = readStat(String(pid))[19];
  return startTick === undefined ? null : `${readFileSync('/proc/sys/kernel/random/boot_id', 'latin1').trim()}:${startTick}`;
}

/** The fields of /proc/PID/stat from the third on, the state; the second, a name, may contain anything but ends with the last `)`. */
function readStat(pid: string): readonly string[] {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'latin1');
    return stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  } catch {
    return [];
  }
}
