/** This process's presence: the advisory lock that proves it alive, and the renewal of its leases (K12). */
import { Worker } from 'node:worker_threads';
import { sessionOptions } from './application-role.js';
import { LEASE_MS, READ_HELD, RENEW_LEASES, TAKE_ELECTION } from './sql/claim-session.js';
import { PRESENCE_LOCK_CLASS } from './sql/presence-lock.js';

/** One session that this process believes to hold, as its row says now. */
export interface HeldLease {
  readonly session_id: string;
  readonly epoch: string;
  /** The lease names this process's presence. */
  readonly ours: boolean;
  /** Somebody asked the turn to stop (K18). */
  readonly stop: boolean;
}

export interface PresenceListener {
  /** The leases that were renewed; one that is absent was being written, or is not this process's any more. */
  renewed(leases: readonly HeldLease[]): void;
  /** The presence is gone: every lease of this process is void. */
  lost(): void;
}

export interface PresenceTimes {
  readonly leaseMs: number;
  readonly renewMs: number;
  /** How long the main loop may stand still before its leases are given up. */
  readonly stallMs: number;
  readonly reconnectMs: number;
}

export const PRESENCE_TIMES: PresenceTimes = { leaseMs: LEASE_MS, renewMs: 500, stallMs: 6_000, reconnectMs: 500 };

const COUNT_MS = 100;
const STATEMENTS = { renew: RENEW_LEASES, readHeld: READ_HELD, takeElection: TAKE_ELECTION };

type ThreadMessage =
  | { readonly type: 'present'; readonly presence: string }
  | { readonly type: 'failed'; readonly message: string }
  | { readonly type: 'renewed'; readonly leases: readonly HeldLease[]; readonly elected: boolean }
  | { readonly type: 'lost' };

export interface Presence {
  /** Number of the advisory lock. */
  readonly number: string;
  /** This process sweeps for all. */
  elected(): boolean;
  /** Names the sessions whose leases are to be renewed: these and no others. */
  hold(sessionIds: readonly string[]): void;
  close(): Promise<void>;
}

/** Takes a fresh presence number; rejects when the database cannot be reached. */
export async function takePresence(url: string, listener: PresenceListener, times: PresenceTimes = PRESENCE_TIMES): Promise<Presence> {
  const counter = new SharedArrayBuffer(4);
  const counting = setInterval(() => Atomics.add(new Int32Array(counter), 0, 1), COUNT_MS);
  const thread = new Worker(new URL(import.meta.url.endsWith('.ts') ? './presence-thread.ts' : './presence-thread.js', import.meta.url), {
    workerData: { url, options: sessionOptions(url), lockClass: PRESENCE_LOCK_CLASS, statements: STATEMENTS, counter, ...times },
  });
  let elected = false;
  const exited = new Promise<void>((resolve) => thread.once('exit', () => resolve()));
  const number = await new Promise<string>((resolve, reject) => {
    thread.on('error', (error: Error) => {
      reject(error);
      elected = false;
      listener.lost();
    });
    thread.on('message', (message: ThreadMessage) => {
      switch (message.type) {
        case 'present':
          return resolve(message.presence);
        case 'failed':
          return reject(new Error(message.message));
        case 'renewed':
          elected = message.elected;
          return listener.renewed(message.leases);
        case 'lost':
          elected = false;
          return listener.lost();
      }
    });
  }).catch(async (error: unknown) => {
    clearInterval(counting);
    await thread.terminate();
    throw error;
  });
  return {
    number,
    elected: () => elected,
    hold: (sessions) => thread.postMessage({ type: 'held', sessions }),
    close: async () => {
      clearInterval(counting);
      thread.postMessage({ type: 'close' });
      await exited;
    },
  };
}
