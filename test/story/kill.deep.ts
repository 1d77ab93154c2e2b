/** The whole story on one process that is killed at a commit and started again: nothing is lost, and nothing happens twice. */
import { afterEach, describe, expect, jest, test } from '@jest/globals';
import { waitFor } from '@echelon/testkit';
import { findViolations } from '../support/invariants.js';
import type { KillPoint } from './kill-point.js';
import { expectWholeStory, readEntries } from './story-facts.js';
import { CHILD_RESULT, PARENT_RESULT, STEPS, storyScript } from './story-script.js';
import { MODELS, StoryWorld } from './story-world.js';

jest.setTimeout(480_000);

let world: StoryWorld;
afterEach(() => world.close());

const KILLED = { code: null, signal: 'SIGKILL' };
const WHEN: readonly KillPoint['when'][] = ['before', 'after'];

/** Moments of the story, each by a statement of the transaction that makes it true, with its values. */
const MOMENTS = {
  childCreated: String.raw`INSERT INTO task \([^]*\[story:child\]`,
  firstRequestPrepared: `INSERT INTO model_request[^]*${MODELS.child}`,
  askReceived: 'INSERT INTO tool_call[^]*ask_parent_question_kandev',
  asked: String.raw`INSERT INTO message[^]*\nparent_question\n`,
  questionClaimed: 'INSERT INTO message[^]*"kind":"question"',
  answered: String.raw`INSERT INTO queue_entry[^]*\nanswer\n`,
  answerClaimed: 'INSERT INTO message[^]*"kind":"answer"',
  writeIntended: 'INSERT INTO tool_call[^]*write_file',
  written: 'UPDATE tool_call SET state[^]*was created',
  completionSignalled: `completion_signal = [^]*${CHILD_RESULT}`,
  childCompleted: String.raw`UPDATE task SET state[^]*\ncompleted\n${CHILD_RESULT}`,
  endOfChildrenClaimed: 'INSERT INTO message[^]*"kind":"alert"',
  parentCompleted: String.raw`UPDATE task SET state[^]*\ncompleted\n${PARENT_RESULT}`,
};

/** Plays the story with one death and a process that goes on, to the end that a story without any death has. */
async function survive(when: KillPoint['when'], moment: keyof typeof MOMENTS): Promise<void> {
  world = await StoryWorld.open(storyScript());
  const first = await world.startNode({ when, statement: MOMENTS[moment] });
  const root = await world.begin(first.api);
  expect(await world.untilDead(first.program)).toEqual(KILLED);
  await world.startNode();
  await world.untilEnded(root.id);
  await expectWholeStory(world, root);
}

/** The child's first turn runs, and nothing else. */
const ONE_TURN_RUNS = `SELECT 1 FROM turn HAVING count(*) = 2 AND count(*) FILTER (WHERE status <> 'finished') = 1`;

/** States of the model requests of a task's first turn, in the order in which they were prepared. */
function readFirstRequests(agent: keyof typeof MODELS): Promise<readonly object[]> {
  return world.rows(
    `SELECT r.round, r.state FROM model_request r JOIN turn t ON t.id = r.turn_id WHERE t.number = 1 AND r.model = $1 ORDER BY r.created_at, r.id`,
    [MODELS[agent]],
  );
}

describe('a process that dies', () => {
  test.each(WHEN)('%s the commit of the child’s creation leaves one child, which starts [K1, K14, K16]', async (when) => {
    await survive(when, 'childCreated');
  });

  test('before the commit of the child’s first model request has sent none [K3, K12]', async () => {
    await survive('before', 'firstRequestPrepared');
    expect(await readFirstRequests('child')).toEqual([{ round: 1, state: 'sealed' }]);
  });

  test('after the commit of the child’s first model request sends it again as a new one [K17]', async () => {
    await survive('after', 'firstRequestPrepared');
    expect(await readFirstRequests('child')).toEqual([
      { round: 1, state: 'abandoned' },
      { round: 1, state: 'sealed' },
    ]);
  });

  test('before the commit of a response asks the model again [K17]', async () => {
    await survive('before', 'askReceived');
    expect(await readFirstRequests('child')).toEqual([
      { round: 1, state: 'abandoned' },
      { round: 1, state: 'sealed' },
    ]);
  });

  test('after the commit of the response that asks has asked once [K7]', async () => {
    await survive('after', 'askReceived');
    expect(await readFirstRequests('child')).toEqual([{ round: 1, state: 'sealed' }]);
  });

  test('before the commit of the ask has asked nothing, and asks once [K7]', async () => {
    await survive('before', 'asked');
  });

  test('after the commit of the ask finds its question again, and the parent one prompt [K2, K7, A2, A14]', async () => {
    await survive('after', 'asked');
  });

  test.each(WHEN)('%s the commit of the parent’s claim of the question opens one turn of the parent [K3, K10]', async (when) => {
    await survive(when, 'questionClaimed');
  });

  test.each(WHEN)('%s the commit of the answer leaves all of it or nothing, and a retry finishes it [K8, R10]', async (when) => {
    await survive(when, 'answered');
  });

  test.each(WHEN)('%s the commit of the child’s claim of the answer opens one turn of the child [K3, K10]', async (when) => {
    await survive(when, 'answerClaimed');
  });

  test('before the commit of an intent has not begun the effect [K17]', async () => {
    await survive('before', 'writeIntended');
    expect(await world.rows(`SELECT state FROM tool_call WHERE name = 'write_file'`)).toEqual([{ state: 'done' }]);
  });

  test.each([
    ['after', 'writeIntended'],
    ['before', 'written'],
  ] as const)('%s the commit of %s does not know what became of the effect, and says so [K17]', async (when, moment) => {
    await survive(when, moment);
    expect(await world.one(`SELECT state, is_error FROM tool_call WHERE name = 'write_file' ORDER BY created_at`)).toEqual({
      state: 'unknown',
      is_error: true,
    });
  });

  test('after the commit of a result keeps it [K17]', async () => {
    await survive('after', 'written');
    expect(await world.rows(`SELECT state FROM tool_call WHERE name = 'write_file'`)).toEqual([{ state: 'done' }]);
  });

  test.each(WHEN)('%s the commit of the completion signal completes the child once [K5]', async (when) => {
    await survive(when, 'completionSignalled');
  });

  test.each(WHEN)('%s the commit of the settlement that completes the child tells the parent once [K5, K20, M15]', async (when) => {
    await survive(when, 'childCompleted');
  });

  test.each(WHEN)('%s the commit of the parent’s claim of the end of its children opens one turn [K3, K10]', async (when) => {
    await survive(when, 'endOfChildrenClaimed');
  });

  test.each(WHEN)('%s the commit of the settlement that completes the parent completes it once [K5]', async (when) => {
    await survive(when, 'parentCompleted');
  });

  test('after every one of these commits comes to the same end, and offends no invariant [K1, K5, K10, K12, I1, I2, I3, I5, I6]', async () => {
    world = await StoryWorld.open(storyScript());
    const [first, ...others] = Object.values(MOMENTS).map((statement): KillPoint => ({ when: 'after', statement }));
    const node = await world.startNode(first);
    const root = await world.begin(node.api);
    expect(await world.untilDead(node.program)).toEqual(KILLED);
    for (const dies of others) expect(await world.untilDead(world.startDoomed(dies))).toEqual(KILLED);
    await world.startNode();
    await expectWholeStory(world, root);
  });

  test('three times without progress gives the turn up, and the parent hears of it [K22]', async () => {
    world = await StoryWorld.open(storyScript());
    const dies: KillPoint = { when: 'before', statement: MOMENTS.firstRequestPrepared };
    const node = await world.startNode(dies);
    await world.begin(node.api);
    expect(await world.untilDead(node.program)).toEqual(KILLED);
    for (let death = 2; death <= 3; death++) expect(await world.untilDead(world.startDoomed(dies))).toEqual(KILLED);
    await world.startNode();
    const alert = `SELECT e.kind FROM queue_entry e JOIN turn t ON t.opening_entry_id = e.id WHERE e.kind = 'alert' AND t.status = 'finished'`;
    await waitFor('the parent has heard of it', () => world.one(alert), 60);
    expect(
      await world.rows(
        `SELECT outcome, involuntary_resumes FROM turn t JOIN session s ON s.id = t.session_id JOIN task ON task.id = s.task_id WHERE task.depth = 1`,
      ),
    ).toEqual([{ outcome: 'interrupted', involuntary_resumes: 3 }]);
    expect(await world.rows('SELECT title, state FROM task ORDER BY depth')).toEqual([
      { title: 'The parent', state: 'review' },
      { title: 'The greeting', state: 'review' },
    ]);
    expect(await findViolations(world.database)).toEqual({});
  });
});

describe('a question that waits over a restart', () => {
  test('is still pending, has the same badge, launches no agent, and is answered once on resume [A8, S6, V1]', async () => {
    const paused = Promise.withResolvers<void>();
    const ask: typeof STEPS.ask = (request) => ({ ...STEPS.ask(request), faults: [{ kind: 'hold', until: paused.promise }] });
    world = await StoryWorld.open(storyScript({ ask }));
    const first = await world.startNode();
    const root = await world.begin(first.api);
    await waitFor('the child is about to ask, and the parent rests', () => world.one(ONE_TURN_RUNS), 60);
    await first.api.sessions.setAutoRun(root.primary_session_id!, false);
    paused.resolve();
    await waitFor('the child waits', () => world.one(`SELECT 1 FROM session WHERE state = 'waiting_for_input'`), 60);
    const [child] = (await first.api.tasks.list({ parent_id: root.id })).items;
    expect(child).toMatchObject({ state: 'waiting', pending_action: 'clarification' });
    const [entries, requests] = [await readEntries(world, root), world.model.requestCount];
    await first.program.kill();

    const { api } = await world.startNode();
    await world.bystander(api, root);
    expect(await api.tasks.get(child!.id)).toEqual(child);
    expect(await api.questions.list({ kind: 'parent', task_id: child!.id })).toMatchObject({ items: [{ status: 'pending' }] });
    expect(world.model.requestCount).toBe(requests + 1);
    expect(await readEntries(world, root)).toEqual(entries);
    expect(entries.filter(({ kind }) => kind === 'question')).toMatchObject([{ state: 'queued', turns: 0 }]);

    await api.sessions.setAutoRun(root.primary_session_id!, true);
    await world.untilEnded(root.id);
    await expectWholeStory(world, root);
  });
});
