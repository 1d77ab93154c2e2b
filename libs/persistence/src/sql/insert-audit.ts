import type { OpenTx } from '../database.js';
import { newId } from '../id.js';

export interface NewAudit {
  readonly workspaceId: string | null;
  /** As `actorName` says it. */
  readonly actor: string;
  readonly action: string;
  readonly subject: string;
  readonly detail?: object;
}

/** Records who decided what, with the decision's transaction; the row can never be changed. */
export async function insertAudit(tx: OpenTx, audit: NewAudit): Promise<void> {
  tx.send('INSERT INTO audit (id, workspace_id, actor, action, subject, detail) VALUES ($1, $2, $3, $4, $5, $6)', [
    newId(),
    audit.workspaceId,
    audit.actor,
    audit.action,
    audit.subject,
    JSON.stringify(audit.detail ?? {}),
  ]);
}
