/**
 * After a dump was restored (operations.md, Backup and restore): turns that ran are interrupted, and nothing of the time that was lost
 * can act on the database: no lease, no token, no cursor. Safe to repeat.
 */
import {
  type Database,
  findOpenTurn,
  insertAudit,
  invalidateCursors,
  listInterruptedTurns,
  revokeAllTokens,
  revokeLeases,
} from '@echelon/persistence';
import { lockFamilies } from './ending.js';
import { refreshWork, release } from './session-queue.js';
import { endTurn } from './settle.js';
import { issueToOperator } from './token.service.js';
import type { Transactions, Unit } from './unit-of-work.js';

export interface Restored {
  readonly interrupted_turns: number;
  readonly revoked_tokens: number;
  /** A fresh secret of the operator; `null` where the dump has no operator yet. */
  readonly token: string | null;
}

/**
 * Prepares a restored database for its first start. The caller holds the deployment's lock alone, so that nobody else of ours works on
 * it; `assertAlone` rejects once that is not certain, and is asked before each commit.
 */
export async function restore(database: Database, transactions: Transactions, assertAlone: () => Promise<void>): Promise<Restored> {
  const turns = await listInterruptedTurns(database);
  for (const turn of turns) await transactions.run((unit) => interrupt(unit, turn).then(assertAlone));
  return transactions.run(async (unit) => {
    revokeLeases(unit);
    invalidateCursors(unit);
    const revoked = await revokeAllTokens(unit);
    const token = await issueToOperator(unit, 'after a restore');
    const detail = { interrupted_turns: turns.length, revoked_tokens: revoked };
    await insertAudit(unit, { workspaceId: null, actor: 'system', action: 'deployment.restore', subject: 'deployment', detail });
    await assertAlone();
    return { ...detail, token };
  });
}

/** Ends the turn as its holder's death would in the end: calls whose effect may have happened become unknown, the queue stays. */
async function interrupt(
  unit: Unit,
  found: { readonly turn_id: string; readonly session_id: string; readonly task_id: string },
): Promise<void> {
  const { tasks, sessions } = await lockFamilies(unit, [found.task_id]);
  const task = tasks.get(found.task_id);
  const session = sessions.find(({ id }) => id === found.session_id);
  const turn = await findOpenTurn(unit, found.session_id);
  if (!task || !session || turn?.id !== found.turn_id) return;
  await release(unit, session, 'idle');
  const lease = { sessionId: session.id, epoch: session.lease_epoch };
  await endTurn(unit, { task, session, turn, lease }, { outcome: 'interrupted', detail: 'a backup was restored' }, { yieldToOthers: true });
  await refreshWork(unit, session.id);
}
