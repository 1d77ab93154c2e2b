/** Turns on a server without workers: opened and ended as a worker does, when a spec says so. */
import { claimTurn } from '../../libs/orchestration/src/claim.js';
import { settle } from '../../libs/orchestration/src/settle.js';
import { reachRoot, ROOT } from './reached-root.js';
import type { RunningServer } from './running-server.js';

const CLAIMER = { owner: 'spec', presence: null, leaseMs: 600_000, rootId: ROOT.id };

export interface ServerTurns {
  /** Opens the session's next turn; the returned function ends it. */
  open(sessionId: string): Promise<() => Promise<void>>;
  close(): Promise<void>;
}

export async function turnsOf({ databaseUrl, database, transactions }: RunningServer): Promise<ServerTurns> {
  const close = await reachRoot(databaseUrl, database);
  return {
    open: async (sessionId) => {
      const claimed = await claimTurn(transactions, sessionId, CLAIMER);
      if (!claimed) throw new Error(`session ${sessionId} has nothing to claim`);
      const report = { stop: { reason: 'completed' }, record: () => Promise.resolve() } as const;
      return async () => void (await settle(transactions, claimed, report, { yieldToOthers: true }));
    },
    close,
  };
}
