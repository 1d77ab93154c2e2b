import { newId, passFence, sendTurnToken } from '@echelon/persistence';
import type { ClaimedTurn } from './claim.js';
import { newSecret } from './token-secret.js';
import type { Transactions } from './unit-of-work.js';

/**
 * Issues the token with which the agent of a running turn calls our MCP endpoint: its calls count for that turn, and it is void as soon
 * as the turn is over, however that ends. A session has one at a time. Gives what the fence says where the turn may not go on (K4, K18).
 */
export function issueTurnToken(
  transactions: Transactions,
  { lease, session, turn }: ClaimedTurn,
): Promise<{ readonly secret: string } | 'lost' | 'stopped'> {
  return transactions.run(async (unit) => {
    const fence = await passFence(unit, lease, turn.id, false);
    if (fence !== 'held') return fence;
    const { secret, hash } = newSecret('session');
    const label = `the agent of turn ${turn.number}`;
    sendTurnToken(unit, { id: newId(), hash, label, workspaceId: session.workspace_id, sessionId: session.id, turnId: turn.id });
    return { secret };
  });
}
