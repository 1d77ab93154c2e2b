import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { DEFAULT_LIMITS } from '@echelon/domain';
import { createPool, Database, listForgotten, setAutoRun, type TurnRow } from '@echelon/persistence';
import { ROOT } from '../../../test/support/reached-root.js';
import { answer, ASK } from '../../../test/support/waiting-child.js';
import { accepted, type TestTask, World } from '../../../test/support/world.js';
import { takeDelivery } from './attached-turn.js';
import { type ClaimedTurn, claimTurn } from './claim.js';
import { recoverLease } from './lease-recovery.js';
import { SessionService } from './session.service.js';
import { settle } from './settle.js';
import { TaskService } from './task.service.js';

const CAP = 2;
let world: World;
let narrow: World;

beforeAll(async () => {
  world = await World.open({ turns_per_tree: CAP });
  narrow = await World.open({ turns_per_tree: 1 });
});
afterAll(() => Promise.all([world.close(), narrow.close()]));

/** Forgets what was announced until now. */
function quiet({ announced }: World): void {
  announced.length = 0;
}

/** A root with so many children, each with work. */
async function treeOf(in_: World, children: number): Promise<{ readonly root: TestTask; readonly children: readonly TestTask[] }> {
  const root = await in_.task();
  const made: TestTask[] = [];
  for (let child = 0; child < children; child++) {
    made.push(await in_.task({ parent: root }));
    await in_.prompt(made.at(-1)!.sessionId);
  }
  return { root, children: made };
}

function handOver(claimed: ClaimedTurn): Promise<unknown> {
  const report = { stop: { reason: 'handed_over' }, record: () => Promise.resolve() } as const;
  return settle(narrow.transactions, claimed, report, { yieldToOthers: true });
}

/** A tree of the narrow world: one child holds its turn, the other was refused. */
async function fullTree() {
  const { root, children } = await treeOf(narrow, 2);
  const [holding, waiting] = [children[0]!, children[1]!];
  const claimed = await narrow.claim(holding.sessionId);
  expect(await narrow.tryClaim(waiting.sessionId)).toBeNull();
  quiet(narrow);
  return { root, holding, waiting, claimed };
}

describe('a claim', () => {
  test('is refused while the tree runs all its turns; the session stays runnable and says why it waits, and other trees run [K3, K24]', async () => {
    const { children } = await treeOf(world, 3);
    await world.claim(children[0]!.sessionId);
    await world.claim(children[1]!.sessionId);
    expect(await world.tryClaim(children[2]!.sessionId)).toBeNull();
    expect(await world.sessionRow(children[2]!.sessionId)).toMatchObject({ runnable: true, lease_owner: null, lease_epoch: '0' });
    expect(await world.entries(children[2]!.sessionId)).toMatchObject([{ state: 'queued' }]);
    const shown = await Promise.all(
      children.map(({ sessionId }) => new SessionService(world.database, world.transactions).get(world.operator, sessionId)),
    );
    expect(shown.map((session) => accepted(session).waits_for_tree)).toEqual([false, false, true]);
    await world.openTurn((await world.task()).sessionId);
  });

  test.each([1, CAP])('never goes above a cap of %s, of 100 at once from two workers [K24]', async (cap) => {
    const in_ = cap === 1 ? narrow : world;
    const second = new Database(createPool(in_.url, { max: 16 }));
    const workers = [in_, in_.through(second)];
    const { root } = await treeOf(in_, 0);
    const upper = await in_.task({ parent: root, autopilot: true });
    const sessions: string[] = [];
    for (let n = 0; n < 10; n++) {
      const { sessionId } = await in_.task({ parent: n % 2 ? upper : root, autopilot: true });
      await in_.prompt(sessionId);
      sessions.push(sessionId);
    }
    const claims = await Promise.all(Array.from({ length: 100 }, (_, n) => workers[n % 2]!.tryClaim(sessions[n % 10]!)));
    expect(claims.filter((claimed) => claimed !== null)).toHaveLength(cap);
    await second.close();
  });

  test('that finds nothing to do passes its announcement on [K10, K24]', async () => {
    const { holding, waiting, claimed } = await fullTree();
    await narrow.prompt(holding.sessionId);
    await narrow.run((unit) => setAutoRun(unit, waiting.sessionId, false));
    await narrow.endTurn(claimed);
    expect(narrow.announced).toEqual([waiting.sessionId]);
    quiet(narrow);
    expect(await narrow.tryClaim(waiting.sessionId)).toBeNull();
    expect(narrow.announced).toEqual([holding.sessionId]);
  });

  test('of an agent that we do not run neither counts nor waits [K24]', async () => {
    const { root, claimed } = await fullTree();
    const attached = await narrow.task({ parent: root, runtime: 'external' });
    await narrow.prompt(attached.sessionId);
    const agent = { taskId: attached.id, sessionId: attached.sessionId, owner: 'token:spec' };
    expect(await narrow.run((unit) => takeDelivery(unit, agent, null))).toMatchObject({ again: false });
    await narrow.endTurn(claimed);
    expect(narrow.announced).toHaveLength(1);
  });
});

describe('a turn that is free again goes to one waiting session, announced with what freed it [K10, K24]:', () => {
  const ways: Readonly<Record<string, (held: { claimed: ClaimedTurn; holding: TestTask }) => Promise<unknown>>> = {
    'the turn completed': ({ claimed }) => narrow.endTurn(claimed),
    'the turn parked': ({ claimed }) => parkForPerson(claimed),
    'the turn was handed over and backs off': async ({ claimed }) => {
      await narrow.rows(`UPDATE turn SET resume_at = now() + interval '1 hour' WHERE id = $1`, [claimed.turn.id]);
      await handOver(claimed);
    },
    'the task completed': async ({ claimed, holding }) => {
      accepted(await narrow.services.turns.signalCompletion(narrow.agent(holding), { summary: 'Done.' }));
      await narrow.endTurn(claimed);
    },
    'the session was ended': ({ holding }) => narrow.endSession(holding, holding.sessionId),
    'the task was cancelled': ({ holding }) => narrow.move(holding, 'cancel'),
    'its worker died for the third time': async ({ claimed, holding }) => {
      await narrow.rows(`UPDATE turn SET involuntary_resumes = 2, last_barrier_at = NULL WHERE id = $1`, [claimed.turn.id]);
      await narrow.rows(`UPDATE session SET lease_until = now() - interval '1 second' WHERE id = $1`, [holding.sessionId]);
      expect(await recoverLease(narrow.transactions, holding.sessionId)).toBe(true);
    },
  };

  test.each(Object.keys(ways))('%s', async (name) => {
    const { holding, waiting, claimed } = await fullTree();
    await ways[name]!({ claimed, holding });
    expect(narrow.announced.filter((id) => id === waiting.sessionId)).toHaveLength(1);
    expect(narrow.announced).not.toContain(holding.sessionId);
    expect(await narrow.rows('SELECT id FROM outbox WHERE session_id = $1 AND priority = 1', [waiting.sessionId])).toHaveLength(2);
    await narrow.claim(waiting.sessionId);
  });

  async function parkForPerson(claimed: ClaimedTurn): Promise<void> {
    const actor = { ...narrow.agent({ id: claimed.task.id, sessionId: claimed.session.id }), turnId: claimed.turn.id };
    accepted(await narrow.services.questions.askUser(actor, ASK, 'call-1'));
    expect(await narrow.parkTurn(claimed)).toEqual({ then: 'released' });
  }
});

describe('whose turn comes next', () => {
  test('unfinished turns go first, then what is urgent, then the rest from old to new [K24]', async () => {
    const { root, children } = await treeOf(narrow, 1);
    const resumed = await waiting(root, 'task');
    await handOver(await narrow.claim(resumed));
    const claimed = await narrow.claim(children[0]!.sessionId);
    const ordinary = [await waiting(root, 'task'), await waiting(root, 'task')];
    const urgent = await waiting(root, 'operator');
    const order: string[] = [];
    let held = claimed;
    for (;;) {
      quiet(narrow);
      await narrow.endTurn(held);
      if (narrow.announced.length === 0) break;
      expect(narrow.announced).toHaveLength(1);
      order.push(narrow.announced[0]!);
      held = await narrow.claim(narrow.announced[0]!);
    }
    expect(order).toEqual([resumed, urgent, ...ordinary]);
  });

  test('a session with more to do gives its turn up while others wait, and takes its place among them [K24]', async () => {
    const { holding, waiting, claimed } = await fullTree();
    await narrow.prompt(holding.sessionId);
    const report = { stop: { reason: 'completed' }, record: () => Promise.resolve() } as const;
    expect(await settle(narrow.transactions, claimed, report, { yieldToOthers: false })).toEqual({ then: 'released' });
    expect(narrow.announced).toEqual([waiting.sessionId]);
    const next = await narrow.claim(waiting.sessionId);
    quiet(narrow);
    await settle(narrow.transactions, next, report, { yieldToOthers: false });
    expect(narrow.announced).toEqual([holding.sessionId]);
  });

  test('as many are announced as the tree has turns free', async () => {
    const { children } = await treeOf(world, 5);
    const held = [await world.claim(children[0]!.sessionId), await world.claim(children[1]!.sessionId)];
    quiet(world);
    await Promise.all(held.map((claimed) => world.endTurn(claimed)));
    expect(new Set(world.announced)).toEqual(new Set([children[2]!.sessionId, children[3]!.sessionId]));
  });

  async function waiting(root: TestTask, sender: 'operator' | 'task'): Promise<string> {
    const { sessionId } = await narrow.task({ parent: root, autopilot: true });
    const { id } = await narrow.prompt(sessionId);
    await narrow.rows('UPDATE queue_entry SET sender_kind = $2, created_at = clock_timestamp() WHERE id = $1', [id, sender]);
    return sessionId;
  }
});

describe('a tree that changes', () => {
  test('a task that leaves takes its turn along: what waited in the old tree is announced, and the new one is full [K24, K20]', async () => {
    const { holding, waiting } = await fullTree();
    const other = await treeOf(narrow, 1);
    const tasks = new TaskService(narrow.database, narrow.transactions, DEFAULT_LIMITS);
    quiet(narrow);
    accepted(await tasks.reparent(narrow.operator, holding.id, other.root.id));
    expect(narrow.announced).toEqual([waiting.sessionId]);
    expect(await narrow.tryClaim(other.children[0]!.sessionId)).toBeNull();
    await narrow.claim(waiting.sessionId);
  });

  test('a waiting session that comes into a tree with a free turn is announced there [K10, K24]', async () => {
    const { waiting } = await fullTree();
    const free = await narrow.task();
    const tasks = new TaskService(narrow.database, narrow.transactions, DEFAULT_LIMITS);
    accepted(await tasks.reparent(narrow.operator, waiting.id, free.id));
    expect(narrow.announced).toEqual([waiting.sessionId]);
    await narrow.claim(waiting.sessionId);
  });

  test('a task that is deleted gives its turn to its tree, and those below it run in trees of their own [K10, K24]', async () => {
    const { holding, waiting } = await fullTree();
    const below = await narrow.task({ parent: holding });
    await narrow.prompt(below.sessionId);
    expect(await narrow.tryClaim(below.sessionId)).toBeNull();
    const tasks = new TaskService(narrow.database, narrow.transactions, DEFAULT_LIMITS);
    quiet(narrow);
    accepted(await tasks.delete(narrow.operator, holding.id, { cascade: false }));
    expect(narrow.announced.toSorted()).toEqual([waiting.sessionId, below.sessionId].toSorted());
    await narrow.claim(waiting.sessionId);
    await narrow.claim(below.sessionId);
  });
});

test('a session that gives up its turn waits from then on: after a long turn it is not taken for forgotten [K10, K24]', async () => {
  const { holding, claimed } = await fullTree();
  await narrow.prompt(holding.sessionId);
  await narrow.rows(`UPDATE session SET announced_at = now() - interval '1 hour' WHERE id = $1`, [holding.sessionId]);
  quiet(narrow);
  expect(await narrow.endTurn(claimed)).toEqual({ then: 'released' });
  expect(narrow.announced).not.toContain(holding.sessionId);
  const forgotten = (await listForgotten(narrow.database, 30_000, 1_000)).map(({ id }) => id);
  expect(forgotten).not.toContain(holding.sessionId);
});

test('a dead worker holds its tree’s turn until its lease is freed, and no longer [K12, K24]', async () => {
  const { children } = await treeOf(narrow, 2);
  const gone = { owner: 'worker:gone', presence: '2000000001', leaseMs: 600_000, rootId: ROOT.id };
  expect(await claimTurn(narrow.transactions, children[0]!.sessionId, gone)).not.toBeNull();
  expect(await narrow.tryClaim(children[1]!.sessionId)).toBeNull();
  quiet(narrow);
  expect(await recoverLease(narrow.transactions, children[0]!.sessionId)).toBe(true);
  expect(narrow.announced).toEqual([children[0]!.sessionId]);
  await narrow.endTurn(await narrow.claim(children[0]!.sessionId));
  expect(narrow.announced.at(-1)).toBe(children[1]!.sessionId);
  await narrow.claim(children[1]!.sessionId);
});

test('one turn at a time carries a question up four levels and its answer down again: who waits for its parent holds none [K24]', async () => {
  const levels = [await narrow.task()];
  for (let level = 1; level < 4; level++) levels.push(await narrow.task({ parent: levels.at(-1)!, autopilot: true }));
  const sessions = levels.map(({ sessionId }) => sessionId);
  await narrow.prompt(sessions[3]!);
  const asked: string[] = [];
  for (let level = 3; level > 0; level--) {
    const claimed = await onlyClaim(sessions, level);
    const actor = narrow.agent(levels[level]!, { turnId: claimed.turn.id });
    asked[level] = accepted(await narrow.services.questions.askParent(actor, ASK, `ask-${level}`)).question_id;
    await narrow.endTurn(claimed);
  }
  for (let level = 0; level < 3; level++) {
    const claimed = await onlyClaim(sessions, level);
    const one = { parent: levels[level]!, child: levels[level + 1]!, questionId: asked[level + 1]! };
    const actor = narrow.agent(one.parent, { turnId: claimed.turn.id });
    expect(accepted(await answer(narrow, one, actor)).status).toBe('sent');
    await narrow.endTurn(claimed);
  }
  await narrow.endTurn(await onlyClaim(sessions, 3));
  expect(await narrow.rows<TurnRow>('SELECT id FROM turn WHERE session_id = ANY($1::uuid[])', [sessions])).toHaveLength(7);
});

/** Claims the session of one level, which was announced last; no other can be claimed meanwhile. */
async function onlyClaim(sessions: readonly string[], level: number): Promise<ClaimedTurn> {
  expect(narrow.announced.at(-1)).toBe(sessions[level]);
  const claimed = await narrow.claim(sessions[level]!);
  for (const session of sessions) expect(await narrow.tryClaim(session)).toBeNull();
  return claimed;
}
