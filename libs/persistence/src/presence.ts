/** This process's presence: the advisory lock that proves it alive, and the renewal of its leases (K12). */
import { Worker } from 'node:worker_threads';
import { LEASE_MS, RENEW_LEASES } from './sql/claim-session.js';
import { PRESENCE_LOCK_CLASS } from './sql/presence-lock.js';

/** One lease as the last renewal found it. */
export interface RenewedLease {
  readonly session_id: string;
  readonly epoch: string;
  /** Somebody asked the turn to stop (K18). */
  readonly stop: boolean;
}

export interface PresenceListener {
  /** The leases that were renewed; one that is absent was being written, or is not this process's any more. */
  renewed(leases: readonly RenewedLease[]): void;
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

const SWEEPER_LOCK = 7_270_737;
const COUNT_MS = 100;

type ThreadMessage =
  | { readonly type: 'present'; readonly presence: string }
  | { readonly type: 'failed'; readonly message: string }
  | { readonly type: 'renewed'; readonly leases: readonly RenewedLease[]; readonly elected: boolean }
  | { readonly type: 'lost' };

export interface Presence {
  /** Number of the advisory lock. */
  readonly number: string;
  /** This process sweeps for all. */
  elected(): boolean;
  close(): Promise<void>;
}

/** Takes a fresh presence number; rejects when the database cannot be reached. */
export async function takePresence(url: string, listener: PresenceListener, times: PresenceTimes = PRESENCE_TIMES): Promise<Presence> {
  const counter = new SharedArrayBuffer(4);
  const counting = setInterval(() => Atomics.add(new Int32Array(counter), 0, 1), COUNT_MS);
  const thread = new Worker(new URL(import.meta.url.endsWith('.ts') ? './presence-thread.ts' : './presence-thread.js', import.meta.url), {
    workerData: { url, lockClass: PRESENCE_LOCK_CLASS, sweeperLock: SWEEPER_LOCK, renewStatement: RENEW_LEASES, counter, ...times },
  });
  let elected = false;
  const exited = new Promise<void>((resolve) => thread.once('exit', () => resolve()));
  const number = await new Promise<string>((resolve, reject) => {
    thread.once('error', reject);
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
  }).catch((error: unknown) => {
    clearInterval(counting);
    throw error;
  });
  return {
    number,
    elected: () => elected,
    close: async () => {
      clearInterval(counting);
      thread.postMessage('close');
      await exited;
    },
  };
}
