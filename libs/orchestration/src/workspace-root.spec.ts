import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { Job, JobQueue } from '@echelon/messaging';
import { announceUnreached, deleteOutbox, listForgotten, listReachedRoots, releaseLease } from '@echelon/persistence';
import { CreatedTasks } from '../../../test/support/created-tasks.js';
import { reachRoot, ROOT } from '../../../test/support/reached-root.js';
import { type TestTask, World } from '../../../test/support/world.js';
import { type ClaimedTurn, claimTurn } from './claim.js';
import { ORDINARY, URGENT } from './priority.js';
import { Relay } from './relay.js';
import { enqueue } from './session-queue.js';
import { Transactions } from './unit-of-work.js';

const HERE = ROOT.id;
const THERE = randomUUID();

let world: World;
let created: CreatedTasks;

beforeAll(async () => {
  world = await World.open();
  created = new CreatedTasks(world);
  await world.rows(`INSERT INTO workspace_root (id, host, path) VALUES ($1, 'far', '/far')`, [THERE]);
});
afterAll(() => world.close());

const claimer = (rootId: string) => ({ owner: `worker:${rootId}`, presence: null, leaseMs: 600_000, rootId });
const claim = ({ sessionId }: TestTask, rootId: string) => claimTurn(world.transactions, sessionId, claimer(rootId));

async function prompted(): Promise<TestTask> {
  const task = await world.task();
  await world.prompt(task.sessionId);
  return task;
}

/** A task whose folder lies in the root, with the next prompt in its queue. */
async function placed(rootId: string): Promise<TestTask> {
  const task = await prompted();
  await world.endTurn((await claim(task, rootId)) as ClaimedTurn);
  await world.prompt(task.sessionId);
  return task;
}

async function rootOf({ id }: TestTask): Promise<string | null> {
  const rows = await world.rows<{ id: string }>(
    'SELECT f.workspace_root_id AS id FROM task t JOIN task_folder f ON f.folder = t.folder WHERE t.id = $1',
    [id],
  );
  return rows[0]?.id ?? null;
}

const outboxOf = ({ sessionId }: TestTask) => world.rows<{ id: string }>('SELECT id FROM outbox WHERE session_id = $1', [sessionId]);

describe('the first claim of a folder', () => {
  test('places it in the root of who claims; from then on nobody else does [K3, O7]', async () => {
    const task = await placed(THERE);
    expect(await rootOf(task)).toBe(THERE);
    expect(await claim(task, HERE)).toBeNull();
    expect(await world.sessionRow(task.sessionId)).toMatchObject({ runnable: true, lease_owner: null });
    expect(await claim(task, THERE)).not.toBeNull();
  });

  test('places no folder for a session that has nothing to do', async () => {
    const task = await world.task();
    expect(await claim(task, HERE)).toBeNull();
    expect(await rootOf(task)).toBeNull();
  });

  test('places it for all tasks that inherit it; a task with a new folder lies where it is first claimed', async () => {
    const { tasks } = await family();
    const apart = await created.create({ parent_id: tasks[0]!.id, workspace_mode: 'new_workspace' });
    await claim(tasks[1]!, THERE);
    expect(await Promise.all(tasks.map(rootOf))).toEqual(tasks.map(() => THERE));
    const separate = { id: apart.id, sessionId: apart.primary_session_id ?? '' };
    expect(await claim(separate, HERE)).not.toBeNull();
    expect(await rootOf(separate)).toBe(HERE);
  });

  test('of claims at once of tasks that share the folder, all go to the root of one', async () => {
    const { tasks, root } = await family();
    const claims = await Promise.all(tasks.map((task, index) => claim(task, index % 2 ? HERE : THERE)));
    const winner = await rootOf(root);
    expect([HERE, THERE]).toContain(winner);
    expect(claims.map((claimed) => claimed !== null)).toEqual(tasks.map((_, index) => (index % 2 ? HERE : THERE) === winner));
  });
});

/** A task and its subtasks, which inherit its folder: all with work, none of them claimed. */
async function family(): Promise<{ readonly root: TestTask; readonly tasks: readonly TestTask[] }> {
  const root = await create(null);
  const children = [];
  for (let count = 0; count < 5; count++) children.push(await create(root.id));
  return { root, tasks: [root, ...children] };
}

async function create(parentId: string | null): Promise<TestTask> {
  const task = await created.create({ parent_id: parentId });
  return { id: task.id, sessionId: task.primary_session_id ?? '' };
}

describe('an announcement', () => {
  test('goes to a free slot of this process or to the queue of its root, as the folder lies', async () => {
    const { relay, jobs, offered, transactions } = openProcess(HERE);
    const [near, far, nowhere] = [await placed(HERE), await placed(THERE), await world.task()];
    const prompt = { rank: 3, kind: 'prompt', text: 'Go on.', senderKind: 'operator' } as const;
    for (const { sessionId } of [near, far, nowhere]) await transactions.run((unit) => enqueue(unit, { sessionId, ...prompt }));
    await relay.idle();
    expect(offered).toEqual([near.sessionId, nowhere.sessionId]);
    expect(jobs).toMatchObject([{ sessionId: far.sessionId, rootId: THERE }]);
  });

  test('that a process left in the outbox goes there too', async () => {
    const [near, far] = [await placed(HERE), await placed(THERE)];
    const { relay, jobs, offered } = openProcess(HERE);
    await relay.sweep(0);
    expect(offered).toContain(near.sessionId);
    expect(offered).not.toContain(far.sessionId);
    expect(jobs.find(({ sessionId }) => sessionId === far.sessionId)).toMatchObject({ rootId: THERE });
  });

  test('that was made before the folder was placed is passed on by who cannot reach it, to those who can [K1]', async () => {
    const task = await placed(THERE);
    const { relay, jobs, transactions } = openProcess(HERE);
    expect(await claimTurn(transactions, task.sessionId, claimer(HERE))).toBeNull();
    await relay.idle();
    expect(jobs.map(({ sessionId, rootId }) => ({ sessionId, rootId }))).toEqual([{ sessionId: task.sessionId, rootId: THERE }]);
  });
});

describe('what is passed on to the workers of its root keeps its urgency [K24]:', () => {
  const passedOn = async (task: TestTask) => {
    const { relay, jobs, transactions } = openProcess(HERE);
    await claimTurn(transactions, task.sessionId, claimer(HERE));
    await relay.idle();
    return jobs.map(({ priority }) => priority);
  };

  test('an operator’s prompt and a turn to go on with come first, what another task wrote does not', async () => {
    const prompt = await placed(THERE);
    expect(await passedOn(prompt)).toEqual([URGENT]);
    const message = await world.task();
    await world.prompt(message.sessionId);
    await world.endTurn((await claim(message, THERE)) as ClaimedTurn);
    const written = { sessionId: message.sessionId, rank: 3, kind: 'prompt', text: 'Go on.', senderKind: 'task' } as const;
    await world.run((unit) => enqueue(unit, { ...written, senderTaskId: prompt.id }));
    expect(await passedOn(message)).toEqual([ORDINARY]);
    const { lease } = (await claim(message, THERE)) as ClaimedTurn;
    await world.run((unit) => releaseLease(unit, lease.sessionId, 'idle'));
    expect(await passedOn(message)).toEqual([URGENT]);
  });
});

/** A process with free slots: what it offers to them, and what it hands to the queue. */
function openProcess(rootId: string) {
  const jobs: Job[] = [];
  const offered: string[] = [];
  const queue: Pick<JobQueue, 'enqueue'> = { enqueue: async (given) => void jobs.push(...given) };
  const fail = (error: unknown): never => {
    throw error;
  };
  const relay = new Relay(world.database, queue as JobQueue, () => undefined, fail);
  relay.offerDirectClaims({ rootId, claim: async (sessionId) => offered.push(sessionId) > 0 });
  return { relay, jobs, offered, transactions: new Transactions(world.database, relay) };
}

describe('a root that no live worker reaches', () => {
  const isForgotten = async ({ sessionId }: TestTask) => (await listForgotten(world.database, 0, 1_000)).some(({ id }) => id === sessionId);

  test('keeps its announcements without repeats, until a worker reaches it; others are repeated [K10]', async () => {
    const [near, far, nowhere] = [await placed(HERE), await placed(THERE), await prompted()];
    expect(await Promise.all([near, far, nowhere].map(isForgotten))).toEqual([true, false, true]);
    const leave = await reachRoot(world.url, world.database, { id: THERE, host: 'far', path: '/far' }, '2000000003');
    expect(new Set(await listReachedRoots(world.database))).toEqual(new Set([HERE, THERE]));
    expect(await isForgotten(far)).toBe(true);
    await leave();
    expect(await listReachedRoots(world.database)).toEqual([HERE]);
  });

  test('has its runnable sessions announced anew for the first worker that registers, and for no second one [K1, K10]', async () => {
    const [far, near] = [await placed(THERE), await placed(HERE)];
    await forgetAnnouncements();
    await world.database.transaction(async (tx) => announceUnreached(tx, THERE));
    expect(await outboxOf(far)).toHaveLength(1);
    expect(await outboxOf(near)).toEqual([]);
    await forgetAnnouncements();
    const leave = await reachRoot(world.url, world.database, { id: THERE, host: 'far', path: '/far' }, '2000000004');
    await world.database.transaction(async (tx) => announceUnreached(tx, THERE));
    expect(await outboxOf(far)).toEqual([]);
    await leave();
  });
});

async function forgetAnnouncements(): Promise<void> {
  await deleteOutbox(
    world.database,
    (await world.rows<{ id: string }>('SELECT id FROM outbox')).map(({ id }) => id),
  );
}
