import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { DEFAULT_LIMITS } from '@echelon/domain';
import { type Database, newId, type Tx } from '@echelon/persistence';
import { type TestTask, World } from '../../../test/support/world.js';
import { MessageService } from './message.service.js';
import { QuestionService } from './question.service.js';
import { TaskService } from './task.service.js';
import { Transactions } from './unit-of-work.js';

const LIMITS = { ...DEFAULT_LIMITS, creates_per_tree_minute: 10_000 };
const DEADLOCK = '40P01';

let world: World;
let deadlocks = 0;

beforeAll(async () => {
  world = await World.open();
});
afterAll(() => world.close());

/** Postgres as it is; a deadlock, which would run the transaction again, is counted. */
const counting = {
  transaction: <T>(work: (tx: Tx) => Promise<T>): Promise<T> =>
    world.database.transaction((tx) =>
      work(tx).catch((error: unknown) => {
        if ((error as { code?: unknown }).code === DEADLOCK) deadlocks++;
        throw error;
      }),
    ),
};

function servicesThatCount() {
  const transactions = new Transactions(counting as Pick<Database, 'transaction'> as Database, { committed: () => undefined });
  return {
    tasks: new TaskService(world.database, transactions, LIMITS),
    questions: new QuestionService(world.database, transactions, LIMITS),
    messages: new MessageService(world.database, transactions, LIMITS),
  };
}

async function family(): Promise<readonly [TestTask, TestTask, TestTask]> {
  const top = await world.task({ autopilot: true });
  const middle = await world.task({ parent: top, autopilot: true });
  const leaf = await world.task({ parent: middle, autopilot: true });
  for (const task of [middle, leaf]) await world.openTurn(task.sessionId);
  return [top, middle, leaf];
}

test('what parents, children and operators do at once waits for its locks and never deadlocks [K11]', async () => {
  const { tasks, questions, messages } = servicesThatCount();
  const ask = { questions: [{ prompt: 'Which?' }] };
  const prompt = { prompt: 'More.', autopilot: false, blocked_by: [], start_agent: true };
  for (let round = 0; round < 6; round++) {
    const [top, middle, leaf] = await family();
    const [t, m, l] = [world.agent(top), world.agent(middle), world.agent(leaf)];
    await Promise.all([
      questions.askParent(m, ask, newId()),
      questions.askParent(l, ask, newId()),
      tasks.create(m, { ...prompt, parent_id: leaf.id }, null),
      tasks.create(t, { ...prompt, parent_id: middle.id, blocked_by: [leaf.id] }, null),
      messages.send(t, middle.id, { prompt: 'Go on.', delivery_mode: 'queued' }),
      messages.send(l, middle.id, { prompt: 'Done.', delivery_mode: 'queued' }),
      round % 2 ? tasks.stop(t, middle.id, { cascade: true }) : tasks.archive(t, middle.id),
      tasks.update(world.operator, leaf.id, { state: 'completed' }),
      round % 3 ? tasks.update(world.operator, top.id, { title: 'Top' }) : tasks.archive(world.operator, top.id),
    ]);
  }
  expect(deadlocks).toBe(0);
});
