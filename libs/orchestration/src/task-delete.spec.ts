import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { DEFAULT_LIMITS } from '@echelon/domain';
import { lockSessions, lockTasks, newId } from '@echelon/persistence';
import { failingTransactions, fails } from '../../../test/support/failing-database.js';
import { findBroken } from '../../../test/support/invariants.js';
import { say, waitingChild } from '../../../test/support/waiting-child.js';
import { Workflows } from '../../../test/support/workflows.js';
import { accepted, type TestTask, World } from '../../../test/support/world.js';
import { SessionService } from './session.service.js';
import { deleteTask, resumeDeletions } from './task-delete.js';
import { purgeDeleted } from './task-purge.js';
import { TaskService } from './task.service.js';
import { TokenService } from './token.service.js';
import { Transactions, type Unit } from './unit-of-work.js';

let world: World;
let tasks: TaskService;

beforeAll(async () => {
  world = await World.open();
  tasks = new TaskService(world.database, world.transactions, { ...DEFAULT_LIMITS, creates_per_tree_minute: 1_000 });
});
afterAll(() => world.close());

const ALONE = { cascade: false };
const ALL = { cascade: true };
const CREATE = { prompt: 'More.', autopilot: false, blocked_by: [], start_agent: true };

const alive = async (task: TestTask): Promise<boolean> => !('refused' in (await tasks.get(world.operator, task.id)));

async function questionOf(id: string): Promise<object> {
  const [row] = await world.rows<{ metadata: { status: string; cause: string } }>('SELECT metadata FROM message WHERE id = $1', [id]);
  return { status: row?.metadata.status, cause: row?.metadata.cause };
}

/** Transactions of a process before whose n-th transaction something else happens. */
function interrupted(before: number, happens: () => Promise<void>): Transactions {
  let seen = 0;
  return new (class extends Transactions {
    override async run<T>(work: (unit: Unit) => Promise<T>): Promise<T> {
      if (++seen === before) await happens();
      return super.run(work);
    }
  })(world.database, { committed: () => undefined });
}

describe('deleting a task', () => {
  test('hides it at once, ends what it runs, and revokes its tokens [O19]', async () => {
    const task = await world.task();
    const { turn } = await world.openTurn(task.sessionId);
    const tokens = new TokenService(world.database, world.transactions);
    const { secret } = accepted(await tokens.issue(world.operator, { kind: 'session', label: 'agent', session_id: task.sessionId }));
    expect(accepted(await tasks.delete(world.operator, task.id, ALONE))).toEqual({
      task_id: task.id,
      deleted: 1,
      detached: [],
      already_deleted: false,
    });
    const sessions = new SessionService(world.database, world.transactions);
    const doors = [
      tasks.get(world.operator, task.id),
      tasks.stop(world.operator, task.id, ALL),
      tasks.update(world.operator, task.id, { title: 'No' }),
      tasks.archive(world.operator, task.id),
      tasks.listRelated(world.operator, task.id),
      tasks.spawnSession(world.operator, task.id, { kind: 'task', make_primary: false }, null),
      tasks.create(world.operator, { ...CREATE, parent_id: task.id }, null),
      sessions.get(world.operator, task.sessionId),
      sessions.listByTask(world.operator, task.id),
      sessions.listMessages(world.operator, { sessionId: task.sessionId, limit: 5 }),
      sessions.listTurns(world.operator, task.sessionId, { limit: 5 }),
      sessions.listQueue(world.operator, task.sessionId, { limit: 5 }),
      sessions.setAutoRun(world.operator, task.sessionId, true),
      world.services.turns.get(world.operator, turn.id),
      world.services.turns.stop(world.operator, turn.id),
      say(world, world.operator, task.id),
    ];
    for (const answer of await Promise.all(doors)) expect(answer).toMatchObject({ refused: true, code: 'NOT_FOUND' });
    const listed = accepted(await tasks.list(world.operator, { limit: 200 }));
    expect(listed.items.map(({ id }) => id)).not.toContain(task.id);
    expect(await tokens.authenticate(secret)).toBeNull();
    expect(await world.tryClaim(task.sessionId)).toBeNull();
    expect(await world.rows('SELECT outcome FROM turn WHERE id = $1', [turn.id])).toEqual([{ outcome: 'stopped' }]);
  });

  test('makes roots of its children; what they had asked it is stale, and each is told once [S3, S4, S9]', async () => {
    const root = await world.task();
    const asker = await waitingChild(world, await world.task({ parent: root, autopilot: true }));
    const { parent: middle, child } = asker;
    const leaf = await world.task({ parent: child });
    const { turn } = await world.openTurn(middle.sessionId);
    const own = accepted(
      await world.services.questions.askParent(world.agent(middle, { turnId: turn.id }), { questions: [{ prompt: 'Which?' }] }, newId()),
    );
    expect(accepted(await tasks.delete(world.operator, middle.id, ALONE))).toMatchObject({ deleted: 1, detached: [child.id] });
    expect(await questionOf(asker.questionId)).toEqual({ status: 'stale', cause: 'parent_deleted' });
    expect(await questionOf(own.question_id)).toEqual({ status: 'stale', cause: 'task_deleted' });
    expect((await world.entries(root.sessionId)).map(({ kind, state }) => [kind, state])).toEqual([['question', 'cancelled']]);
    expect((await world.entries(child.sessionId)).filter(({ kind }) => kind === 'notice')).toMatchObject([{ state: 'queued', rank: 0 }]);
    expect(await world.taskRow(child.id)).toMatchObject({ parent_id: null, depth: 0 });
    expect(await world.taskRow(leaf.id)).toMatchObject({ parent_id: child.id, depth: 1 });
    expect((await world.taskRow(root.id)).open_children).toBe(0);
    expect((await world.claim(child.sessionId)).turn.number).toBe(2);
  });

  test('of the last open child tells the parent that its children have ended, without naming it [K20]', async () => {
    const parent = await world.task();
    const [ended, deleted] = [await world.task({ parent, title: 'Ended' }), await world.task({ parent, title: 'Deleted' })];
    await world.move(ended, 'complete');
    accepted(await tasks.delete(world.agent(parent), deleted.id, ALONE));
    const alerts = (await world.entries(parent.sessionId)).filter(({ kind }) => kind === 'alert');
    expect(alerts).toHaveLength(1);
    expect(alerts[0]?.text).toContain('Ended');
    expect(alerts[0]?.text).not.toContain(deleted.id);
    accepted(await tasks.delete(world.operator, ended.id, ALONE));
    expect((await world.taskRow(parent.id)).open_children).toBe(0);
  });

  test('with cascade takes everything below it, and lets no child escape that is created meanwhile [K20]', async () => {
    const root = await world.task();
    const top = await world.task({ parent: root });
    const middles = await Promise.all([1, 2].map(() => world.task({ parent: top })));
    const leaves = await Promise.all(middles.map((parent) => world.task({ parent })));
    const storm = [...leaves, ...middles, top].flatMap((task) =>
      Array.from({ length: 3 }, () => tasks.create(world.agent(task), { ...CREATE, parent_id: task.id }, null)),
    );
    const [deleted, ...created] = await Promise.all([tasks.delete(world.agent(root), top.id, ALL), ...storm]);
    expect(accepted(deleted)).toMatchObject({ detached: [], already_deleted: false });
    const made = created.flatMap((each) => ('refused' in each ? [] : [{ id: each.id, sessionId: '' }]));
    for (const task of [top, ...middles, ...leaves, ...made]) expect(await alive(task)).toBe(false);
    expect(await alive(root)).toBe(true);
    expect(await world.rows(`SELECT 1 FROM session WHERE deleted_at IS NOT NULL AND ended_at IS NULL`)).toEqual([]);
    expect((await world.taskRow(root.id)).open_children).toBe(0);
  });

  test('with cascade goes on with the others where somebody else deletes one of them first, and takes none that has left [K20]', async () => {
    for (const before of [2, 3]) {
      const top = await world.task();
      const first = await world.task({ parent: top });
      const second = await world.task({ parent: top });
      const leaf = await world.task({ parent: second });
      const meanwhile = interrupted(before, async () => {
        for (const id of [first.id, second.id]) await tasks.delete(world.operator, id, ALONE);
        await world.rows('UPDATE task SET parent_id = NULL, depth = 0 WHERE parent_id = $1', [top.id]);
      });
      const kept = await world.task({ parent: top });
      accepted(await deleteTask(meanwhile, { actor: world.operator, id: top.id, cascade: true }));
      expect([await alive(top), await alive(first), await alive(second)]).toEqual([false, false, false]);
      expect([await alive(kept), await alive(leaf)]).toEqual([before === 2, before === 2]);
    }
  });

  test('without cascade waits for nothing that runs below its children', async () => {
    const top = await world.task();
    const leaf = await world.task({ parent: await world.task({ parent: top }) });
    await world.run(async (unit) => {
      await lockSessions(unit, [leaf.sessionId]);
      expect(accepted(await tasks.delete(world.operator, top.id, ALONE)).detached).toHaveLength(1);
    });
    expect(await world.taskRow(leaf.id)).toMatchObject({ depth: 1 });
  });

  test('is refused to an agent that leaves tasks below without a wait for their locks', async () => {
    const root = await world.task();
    const middle = await world.task({ parent: root });
    const leaf = await world.task({ parent: middle });
    await world.run(async (unit) => {
      await lockTasks(unit, [middle.id, leaf.id]);
      expect(await tasks.delete(world.agent(root), middle.id, ALONE)).toMatchObject({ code: 'CONFLICT', details: { field: 'cascade' } });
    });
  });

  test('with cascade is finished by the sweep where its process died', async () => {
    const top = await world.task();
    const middle = await world.task({ parent: top });
    const leaf = await world.task({ parent: middle });
    await world.rows(`UPDATE task SET deleted_at = now(), state = 'cancelled' WHERE id = $1`, [top.id]);
    expect(await resumeDeletions(world.database, world.transactions)).toBe(0);
    await world.rows(`UPDATE task SET deleted_at = now() - interval '1 minute' WHERE id = $1`, [top.id]);
    expect(await resumeDeletions(world.database, world.transactions)).toBe(2);
    expect([await alive(middle), await alive(leaf)]).toEqual([false, false]);
  });

  test('is for an operator and the direct parent, who takes along what is below', async () => {
    const root = await world.task();
    const middle = await world.task({ parent: root });
    const leaf = await world.task({ parent: middle });
    for (const stranger of [root, leaf]) {
      expect(await tasks.delete(world.agent(stranger), leaf.id, ALL)).toMatchObject({ code: 'NOT_DIRECT_PARENT' });
    }
    expect(await tasks.delete(world.agent(root), middle.id, ALONE)).toMatchObject({ code: 'CONFLICT', details: { field: 'cascade' } });
    expect(await alive(middle)).toBe(true);
    expect(accepted(await tasks.delete(world.agent(root), middle.id, ALL)).deleted).toBe(2);
  });

  test('again, by whoever deleted it, changes nothing; for others it does not exist', async () => {
    const parent = await world.task();
    const task = await world.task({ parent });
    accepted(await tasks.delete(world.agent(parent), task.id, ALONE));
    expect(accepted(await tasks.delete(world.agent(parent), task.id, ALONE))).toMatchObject({ deleted: 0, already_deleted: true });
    expect(await tasks.delete(world.operator, task.id, ALONE)).toMatchObject({ code: 'NOT_FOUND' });
    expect(await world.rows(`SELECT 1 FROM audit WHERE subject = $1 AND action = 'task.delete'`, [task.id])).toHaveLength(1);
    expect(await world.rows(`SELECT 1 FROM event WHERE task_id = $1 AND type = 'task.deleted'`, [task.id])).toHaveLength(1);
  });

  test('holds what waits for it, until that dependency is removed', async () => {
    const blocker = await world.task();
    const waiting = accepted(
      await tasks.create(world.operator, { ...CREATE, workspace_id: world.workspaceId, blocked_by: [blocker.id] }, null),
    );
    accepted(await tasks.delete(world.operator, blocker.id, ALONE));
    await purgeDeleted(world.database, world.transactions, {
      folders: { rootId: newId(), remove: async () => undefined },
      log: { info: () => undefined, warn: () => undefined, error: () => undefined },
      afterSeconds: -1,
    });
    const held = accepted(await tasks.get(world.operator, waiting.id));
    expect(held).toMatchObject({ state: 'blocked', blocked_by: [blocker.id] });
    expect(held.blocked_reason).toContain(blocker.id);
    expect(await tasks.addDependency(world.operator, (await world.task()).id, blocker.id)).toMatchObject({ code: 'NOT_FOUND' });
    expect(accepted(await tasks.removeDependency(world.operator, waiting.id, blocker.id))).toMatchObject({
      blocked: false,
      depends_on: [],
    });
    expect(accepted(await tasks.get(world.operator, waiting.id)).state).toBe('ready');
  });

  test('voids the move that its turn was to make: it enters no step, and nobody is told to act on one', async () => {
    const workflows = new Workflows(world);
    const workflow = await workflows.define({ name: 'Plan' }, { name: 'Build', instructions: 'Build it.' });
    const task = await workflows.taskIn(workflow);
    await world.openTurn(task.sessionId);
    accepted(await workflows.move(world.operator, task, workflow, 'Build'));
    accepted(await tasks.delete(world.operator, task.id, ALONE));
    expect(await workflows.told(task, 'task.move_voided')).toMatchObject([{ cause: 'task_over' }]);
    expect(await workflows.told(task, 'task.moved')).toEqual([]);
    expect((await world.entries(task.sessionId)).filter(({ kind }) => kind === 'notice')).toEqual([]);
  });

  test('that fails at any statement changes nothing, and is done by the next call [K20]', async () => {
    for (let statement = 1, failed = true; failed; statement++) {
      const task = await world.task({ autopilot: true, parent: await world.task() });
      const { child, questionId } = await waitingChild(world, task);
      const request = { actor: world.operator, id: task.id, cascade: statement % 2 === 0 };
      failed = await fails(deleteTask(failingTransactions(world.database, statement), request));
      if (failed) {
        expect(await alive(task)).toBe(true);
        expect(await questionOf(questionId)).toMatchObject({ status: 'pending' });
      }
      accepted(await tasks.delete(world.operator, task.id, request));
      await world.rows(`UPDATE task SET deleted_at = deleted_at - interval '1 minute' WHERE id = $1`, [task.id]);
      await resumeDeletions(world.database, world.transactions);
      expect(await alive(child)).toBe(!request.cascade);
      expect(await findBroken(world.database)).toEqual([]);
    }
  });

  test('leaves nothing under its idempotency key but a refusal, while its rows are there [F8]', async () => {
    const create = () => tasks.create(world.operator, { ...CREATE, workspace_id: world.workspaceId }, 'the-key');
    const { id } = accepted(await create());
    accepted(await tasks.delete(world.operator, id, ALONE));
    expect(await create()).toMatchObject({ code: 'NOT_FOUND' });
  });
});
