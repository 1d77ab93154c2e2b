/**
 * Bearer tokens of operators and of sessions.
 *
 * T1  A secret is shown once, at its issue; only its SHA-256 is stored, and a lookup compares nothing but hashes.
 * T2  A session's token ends with its session, and one that an agent was given for a turn with that turn, whether or not it was revoked
 *     (architecture.md §7).
 */
import type { IssuedToken, IssueToken, Page, PageQuery, Token } from '@echelon/contracts';
import { canonicalText, isRefusal, refuse, type Refusal, sessionMachine } from '@echelon/domain';
import {
  type Database,
  findFirstOperator,
  findPrimarySession,
  findSession,
  findValidToken,
  insertAudit,
  insertOperator,
  insertToken,
  listTokens,
  type NewToken,
  revokeToken,
  type SessionRow,
  type TokenRow,
  touchToken,
  type Tx,
  type ValidToken,
} from '@echelon/persistence';
import { type Actor, actorName, type OperatorActor } from './actor.js';
import type { Outcome } from './outcome.js';
import { pageByCreation, readPageByCreation } from './page.js';
import { isId, operatorOnly } from './scope.js';
import { hashSecret, newSecret } from './token-secret.js';
import type { Transactions, Unit } from './unit-of-work.js';

/** `last_used_at` is written at most this often. */
const USED_AGAIN_AFTER_SECONDS = 60;

export class TokenService {
  constructor(
    private readonly database: Database,
    private readonly transactions: Transactions,
  ) {}

  /** Issues a token: of the calling operator, or of one session, named by itself or by its task, whose primary it is then. */
  async issue(actor: Actor, input: IssueToken): Promise<Outcome<IssuedToken>> {
    const operator = operatorOnly(actor);
    if (isRefusal(operator)) return operator;
    return this.transactions.run(async (unit) => {
      const owner = await findOwner(unit, operator, input);
      if (isRefusal(owner)) return owner;
      const issued = await issueToken(unit, { owner, label: input.label, expiresInSeconds: input.expires_in_seconds ?? null });
      await audit(unit, actorName(actor), 'token.issue', issued.token);
      return { ...issued.token, secret: issued.secret };
    });
  }

  /** Tokens from new to old; never with their secrets. */
  async list(actor: Actor, query: PageQuery): Promise<Outcome<Page<Token>>> {
    const operator = operatorOnly(actor);
    if (isRefusal(operator)) return operator;
    const page = readPageByCreation(query);
    if (isRefusal(page)) return page;
    return pageByCreation(await listTokens(this.database, page), query.limit, toToken);
  }

  /** Revokes a token at once; a second time changes nothing. */
  async revoke(actor: Actor, id: string): Promise<Outcome<Token>> {
    const operator = operatorOnly(actor);
    if (isRefusal(operator)) return operator;
    return this.transactions.run(async (unit) => {
      const row = isId(id) ? await revokeToken(unit, id) : null;
      if (!row) return refuse('NOT_FOUND');
      await audit(unit, actorName(actor), 'token.revoke', toToken(row));
      return toToken(row);
    });
  }

  /** Whose token this is; `null` when it is unknown, revoked, expired, or its session has ended. */
  async authenticate(secret: string): Promise<{ readonly actor: Actor; readonly tokenId: string } | null> {
    const token = await findValidToken(this.database, hashSecret(secret), USED_AGAIN_AFTER_SECONDS);
    if (!token) return null;
    if (token.stale) await touchToken(this.database, token.id);
    return { actor: toActor(token), tokenId: token.id };
  }

  /** Creates the operator and its first token; `null` when the operator exists already. */
  async bootstrapOperator(name: string): Promise<{ readonly secret: string; readonly token: Token } | null> {
    return this.transactions.run(async (unit) => {
      const operator = await insertOperator(unit, canonicalText(name));
      if (!operator) return null;
      const owner = { kind: 'operator' as const, operatorId: operator.id };
      const issued = await issueToken(unit, { owner, label: 'first start', expiresInSeconds: null });
      await audit(unit, `operator:${operator.id}`, 'token.issue', issued.token);
      return issued;
    });
  }
}

async function findOwner(tx: Tx, operator: OperatorActor, input: IssueToken): Promise<NewToken['owner'] | Refusal> {
  if (input.kind === 'operator') return { kind: 'operator', operatorId: operator.operatorId };
  if ((input.session_id === undefined) === (input.task_id === undefined))
    return refuse('INVALID_INPUT', { field: 'session_id', rule: 'exactly one of session_id and task_id' });
  const session = await findNamedSession(tx, input);
  if (!session) return refuse('NOT_FOUND', { field: input.session_id === undefined ? 'task_id' : 'session_id' });
  if (sessionMachine.isTerminal(session.state)) return refuse('SESSION_TERMINAL', { state: session.state });
  return { kind: 'session', workspaceId: session.workspace_id, sessionId: session.id };
}

async function findNamedSession(tx: Tx, input: IssueToken): Promise<SessionRow | null> {
  if (input.session_id !== undefined) return findSession(tx, input.session_id);
  return input.task_id === undefined ? null : findPrimarySession(tx, input.task_id);
}

async function issueToken(unit: Unit, token: Omit<NewToken, 'hash'>): Promise<{ readonly secret: string; readonly token: Token }> {
  const { secret, hash } = newSecret(token.owner.kind);
  const row = await insertToken(unit, { ...token, label: canonicalText(token.label), hash });
  return { secret, token: toToken(row) };
}

/** Gives the operator of the first start another token; `null` where there is no operator. */
export async function issueToOperator(unit: Unit, label: string): Promise<string | null> {
  const operator = await findFirstOperator(unit);
  if (!operator) return null;
  const issued = await issueToken(unit, { owner: { kind: 'operator', operatorId: operator.id }, label, expiresInSeconds: null });
  await audit(unit, 'system', 'token.issue', issued.token);
  return issued.secret;
}

async function audit(unit: Unit, actor: string, action: string, token: Token): Promise<void> {
  const detail = { kind: token.kind, label: token.label, session_id: token.session_id };
  await insertAudit(unit, { workspaceId: token.workspace_id, actor, action, subject: token.id, detail });
}

function toActor(token: ValidToken): Actor {
  if (token.kind === 'operator') return { kind: 'operator', tokenId: token.id, operatorId: token.operator_id, name: token.operator_name };
  const { workspace_id: workspaceId, task_id: taskId, session_id: sessionId, turn_id: turnId } = token;
  return { kind: 'agent', workspaceId, taskId, sessionId, turnId, callId: null, tokenId: token.id };
}

function toToken(row: TokenRow): Token {
  return {
    id: row.id,
    kind: row.kind,
    label: row.label,
    workspace_id: row.workspace_id,
    session_id: row.session_id,
    created_at: row.created_at.toISOString(),
    expires_at: row.expires_at?.toISOString() ?? null,
    revoked_at: row.revoked_at?.toISOString() ?? null,
    last_used_at: row.last_used_at?.toISOString() ?? null,
  };
}
