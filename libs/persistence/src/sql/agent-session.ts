import type { OpenTx } from '../database.js';

/** Keeps what an agent over ACP calls a session's conversation, so that its next turn can take it up again. */
export function storeAgentSession(tx: OpenTx, sessionId: string, agentSessionId: string): void {
  tx.send('UPDATE session SET agent_session_id = $2 WHERE id = $1', [sessionId, agentSessionId]);
}
