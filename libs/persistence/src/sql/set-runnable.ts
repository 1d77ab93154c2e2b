import type { OpenTx } from '../database.js';

/** Stores the answer of the admissibility function (K10). */
export function setRunnable(tx: OpenTx, sessionId: string, runnable: boolean): void {
  tx.send('UPDATE session SET runnable = $2, announcements = CASE WHEN $2 THEN announcements ELSE 0 END WHERE id = $1', [
    sessionId,
    runnable,
  ]);
}
