import { createHash } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { DEFAULT_LIMITS } from '@echelon/domain';
import { newId } from '@echelon/persistence';
import { accepted, World } from '../../../test/support/world.js';
import type { OperatorActor } from './actor.js';
import { TaskService } from './task.service.js';
import { TokenService } from './token.service.js';
import { issueTurnToken } from './turn-token.js';

let world: World;
let tokens: TokenService;
let operator: OperatorActor;

beforeAll(async () => {
  world = await World.open();
  tokens = new TokenService(world.database, world.transactions);
  const first = await tokens.bootstrapOperator('Ada');
  const caller = await tokens.authenticate(first?.secret ?? '');
  if (caller?.actor.kind !== 'operator') throw new Error('the first token is an operator’s');
  operator = caller.actor;
});
afterAll(() => world.close());

describe('the first start', () => {
  test('makes an operator with one token, and a second start makes none, also when many start at once', async () => {
    const results = await Promise.all(Array.from({ length: 8 }, () => tokens.bootstrapOperator('Grace')));
    const made = results.filter((result) => result !== null);
    expect(made).toHaveLength(1);
    expect(made[0]?.secret).toMatch(/^ech_op_[\w-]{43}$/);
    expect(await tokens.authenticate(made[0]?.secret ?? '')).toMatchObject({ actor: { kind: 'operator', name: 'Grace' } });
  });
});

describe('a token', () => {
  test('is shown once and stored as the SHA-256 of its secret', async () => {
    const issued = accepted(await tokens.issue(operator, { kind: 'operator', label: 'script' }));
    const rows = await world.rows<{ token_hash: Buffer; row: string }>(
      'SELECT token_hash, to_jsonb(t)::text AS row FROM api_token t WHERE id = $1',
      [issued.id],
    );
    expect(rows[0]?.token_hash).toEqual(createHash('sha256').update(issued.secret).digest());
    expect(rows[0]?.row).not.toContain(issued.secret);
    const listed = accepted(await tokens.list(operator, { limit: 50 }));
    expect(JSON.stringify(listed)).not.toContain(issued.secret);
    expect(listed.items.map(({ id }) => id)).toContain(issued.id);
  });

  test('of a session acts as its agent, and names the primary session where only the task is given', async () => {
    const task = await world.task();
    const other = await world.session(task);
    const issued = accepted(await tokens.issue(operator, { kind: 'session', label: 'editor', task_id: task.id }));
    expect(issued.secret).toMatch(/^ech_ag_[\w-]{43}$/);
    expect(issued).toMatchObject({ session_id: task.sessionId, workspace_id: world.workspaceId });
    const caller = await tokens.authenticate(issued.secret);
    expect(caller).toEqual({ actor: { ...world.agent(task), tokenId: issued.id }, tokenId: issued.id });
    const named = accepted(await tokens.issue(operator, { kind: 'session', label: 'other', session_id: other }));
    expect(named.session_id).toBe(other);
  });

  test('is refused without exactly one of session and task, for what does not exist and for what has ended', async () => {
    const issue = { kind: 'session', label: 'x' } as const;
    const ended = await world.task();
    await world.rows(`UPDATE session SET state = 'cancelled', ended_at = now() WHERE id = $1`, [ended.sessionId]);
    expect(await tokens.issue(operator, issue)).toMatchObject({ code: 'INVALID_INPUT' });
    expect(await tokens.issue(operator, { ...issue, task_id: ended.id, session_id: ended.sessionId })).toMatchObject({
      code: 'INVALID_INPUT',
    });
    expect(await tokens.issue(operator, { ...issue, task_id: newId() })).toMatchObject({ code: 'NOT_FOUND' });
    expect(await tokens.issue(operator, { ...issue, task_id: ended.id })).toMatchObject({ code: 'SESSION_TERMINAL' });
  });

  test('that is unknown, revoked or expired authenticates nobody', async () => {
    const revoked = accepted(await tokens.issue(operator, { kind: 'operator', label: 'revoked' }));
    const expired = accepted(await tokens.issue(operator, { kind: 'operator', label: 'expired', expires_in_seconds: 60 }));
    expect(await tokens.authenticate(expired.secret)).not.toBeNull();
    const first = accepted(await tokens.revoke(operator, revoked.id));
    expect(accepted(await tokens.revoke(operator, revoked.id)).revoked_at).toBe(first.revoked_at);
    await world.rows(`UPDATE api_token SET expires_at = now() WHERE id = $1`, [expired.id]);
    for (const secret of [revoked.secret, expired.secret, 'ech_op_unknown', '']) expect(await tokens.authenticate(secret)).toBeNull();
    expect(await tokens.revoke(operator, newId())).toMatchObject({ code: 'NOT_FOUND' });
  });

  test('of a session ends with its session', async () => {
    const task = await world.task();
    const issued = accepted(await tokens.issue(operator, { kind: 'session', label: 'agent', task_id: task.id }));
    accepted(await new TaskService(world.database, world.transactions, DEFAULT_LIMITS).stop(operator, task.id, { cascade: false }));
    expect(await tokens.authenticate(issued.secret)).toBeNull();
    const [row] = await world.rows<{ revoked: boolean }>('SELECT revoked_at IS NOT NULL AS revoked FROM api_token WHERE id = $1', [
      issued.id,
    ]);
    expect(row?.revoked).toBe(true);
  });

  test('of a turn acts in that turn, and is void once it is over, whoever ended it', async () => {
    const task = await world.task({ runtime: 'acp' });
    const first = await world.openTurn(task.sessionId);
    const issued = await issueTurnToken(world.transactions, first);
    if (typeof issued === 'string') throw new Error(issued);
    const caller = await tokens.authenticate(issued.secret);
    expect(caller?.actor).toEqual({ ...world.agent(task, { turnId: first.turn.id }), tokenId: caller?.tokenId });
    await world.endTurn(first);
    expect(await tokens.authenticate(issued.secret)).toBeNull();
    const second = await world.openTurn(task.sessionId);
    expect(await tokens.authenticate(issued.secret)).toBeNull();
    expect(await issueTurnToken(world.transactions, first)).toBe('lost');
    expect(await issueTurnToken(world.transactions, second)).toMatchObject({ secret: expect.stringMatching(/^ech_ag_/) });
    const kept = await world.rows('SELECT turn_id FROM api_token WHERE session_id = $1', [task.sessionId]);
    expect(kept).toEqual([{ turn_id: second.turn.id }]);
  });

  test('notes its use at most once a minute', async () => {
    const issued = accepted(await tokens.issue(operator, { kind: 'operator', label: 'used' }));
    const lastUse = async () =>
      (await world.rows<{ at: Date }>('SELECT last_used_at AS at FROM api_token WHERE id = $1', [issued.id]))[0]?.at;
    await tokens.authenticate(issued.secret);
    const first = await lastUse();
    await tokens.authenticate(issued.secret);
    expect(first).toBeInstanceOf(Date);
    expect(await lastUse()).toEqual(first);
    await world.rows(`UPDATE api_token SET last_used_at = now() - interval '2 minutes' WHERE id = $1`, [issued.id]);
    await tokens.authenticate(issued.secret);
    expect((await lastUse())?.getTime()).toBeGreaterThanOrEqual(first?.getTime() ?? Infinity);
  });

  test('is issued, listed and revoked by operators only, and each issue and revocation is in the audit', async () => {
    const task = await world.task();
    const agent = world.agent(task);
    expect(await tokens.issue(agent, { kind: 'session', label: 'more', task_id: task.id })).toMatchObject({ code: 'FORBIDDEN' });
    expect(await tokens.list(agent, { limit: 5 })).toMatchObject({ code: 'FORBIDDEN' });
    expect(await tokens.revoke(agent, newId())).toMatchObject({ code: 'FORBIDDEN' });
    const issued = accepted(await tokens.issue(operator, { kind: 'session', label: 'audited', task_id: task.id }));
    accepted(await tokens.revoke(operator, issued.id));
    const rows = await world.rows('SELECT actor, action, workspace_id FROM audit WHERE subject = $1 ORDER BY created_at, id', [issued.id]);
    const by = { actor: `operator:${operator.operatorId}`, workspace_id: world.workspaceId };
    expect(rows).toEqual([
      { ...by, action: 'token.issue' },
      { ...by, action: 'token.revoke' },
    ]);
  });
});
