import type { OpenTx, Tx } from '../database.js';
import { newId } from '../id.js';
import type { TokenRow } from '../rows.js';

const SHOWN = 'id, kind, label, operator_id, workspace_id, session_id, created_at, expires_at, revoked_at, last_used_at';
const TERMINAL = `('completed', 'failed', 'cancelled')`;

export interface NewToken {
  readonly hash: Buffer;
  readonly label: string;
  readonly expiresInSeconds: number | null;
  readonly owner:
    | { readonly kind: 'operator'; readonly operatorId: string }
    | { readonly kind: 'session'; readonly workspaceId: string; readonly sessionId: string };
}

/** Stores a token under its hash; its lifetime is counted by the database's clock. */
export async function insertToken(tx: Tx, token: NewToken): Promise<TokenRow> {
  const { owner } = token;
  const [row] = await tx.query<TokenRow>(
    `INSERT INTO api_token (id, kind, token_hash, label, operator_id, workspace_id, session_id, expires_at)
     VALUES ($1, $2, $3, $4, $5, $6, $7, now() + $8 * interval '1 second') RETURNING ${SHOWN}`,
    [
      newId(),
      owner.kind,
      token.hash,
      token.label,
      owner.kind === 'operator' ? owner.operatorId : null,
      owner.kind === 'session' ? owner.workspaceId : null,
      owner.kind === 'session' ? owner.sessionId : null,
      token.expiresInSeconds,
    ],
  );
  if (!row) throw new Error('an insert returned no row');
  return row;
}

export interface NewTurnToken {
  readonly id: string;
  readonly hash: Buffer;
  readonly label: string;
  readonly workspaceId: string;
  readonly sessionId: string;
  readonly turnId: string;
}

/** Stores the token of a turn's agent, in place of those of the session's earlier turns. */
export function sendTurnToken(tx: OpenTx, token: NewTurnToken): void {
  tx.send('DELETE FROM api_token WHERE session_id = $1 AND turn_id IS NOT NULL', [token.sessionId]);
  tx.send(
    `INSERT INTO api_token (id, kind, token_hash, label, workspace_id, session_id, turn_id) VALUES ($1, 'session', $2, $3, $4, $5, $6)`,
    [token.id, token.hash, token.label, token.workspaceId, token.sessionId, token.turnId],
  );
}

/** Revokes a token; the first time stays. `null` when it does not exist. */
export async function revokeToken(tx: Tx, id: string): Promise<TokenRow | null> {
  const [row] = await tx.query<TokenRow>(`UPDATE api_token SET revoked_at = coalesce(revoked_at, now()) WHERE id = $1 RETURNING ${SHOWN}`, [
    id,
  ]);
  return row ?? null;
}

/** The operator of the first start. */
export async function findFirstOperator(tx: Tx): Promise<{ readonly id: string } | null> {
  const [row] = await tx.query<{ id: string }>('SELECT id FROM operator ORDER BY id LIMIT 1');
  return row ?? null;
}

/** A token that may act, with what its actor is made of; `stale` says that `last_used_at` is old enough to be written again. */
export type ValidToken = { readonly id: string; readonly stale: boolean } & (
  | { readonly kind: 'operator'; readonly operator_id: string; readonly operator_name: string }
  | {
      readonly kind: 'session';
      readonly workspace_id: string;
      readonly session_id: string;
      readonly task_id: string;
      readonly turn_id: string | null;
    }
);

/** Finds the token of a hash unless it is revoked or expired, or its session or turn has ended. */
export async function findValidToken(tx: Tx, hash: Buffer, usedAgainAfterSeconds: number): Promise<ValidToken | null> {
  const [row] = await tx.query<ValidToken>(
    `SELECT k.id, k.kind, k.operator_id, o.name AS operator_name, k.workspace_id, k.session_id, s.task_id, k.turn_id,
       coalesce(k.last_used_at < now() - $2 * interval '1 second', true) AS stale
     FROM api_token k LEFT JOIN operator o ON o.id = k.operator_id LEFT JOIN session s ON s.id = k.session_id
       LEFT JOIN turn t ON t.id = k.turn_id
     WHERE k.token_hash = $1 AND k.revoked_at IS NULL AND (k.expires_at IS NULL OR k.expires_at > now())
       AND (k.kind = 'operator' OR s.state NOT IN ${TERMINAL})
       AND (k.turn_id IS NULL OR t.status <> 'finished')`,
    [hash, usedAgainAfterSeconds],
  );
  return row ?? null;
}

export async function touchToken(tx: Tx, id: string): Promise<void> {
  await tx.query('UPDATE api_token SET last_used_at = now() WHERE id = $1', [id]);
}

/** Stores an operator; `null` where the name is taken. */
export async function insertOperator(tx: Tx, name: string): Promise<{ readonly id: string } | null> {
  const [row] = await tx.query<{ id: string }>(
    'INSERT INTO operator (id, name) VALUES ($1, $2) ON CONFLICT (name) DO NOTHING RETURNING id',
    [newId(), name],
  );
  return row ?? null;
}
