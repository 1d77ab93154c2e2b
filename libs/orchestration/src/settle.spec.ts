import type { LoopStop } from '@echelon/agent-loop';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { releaseLease, type TurnRow } from '@echelon/persistence';
import { accepted, World } from '../../../test/support/world.js';
import type { ClaimedTurn } from './claim.js';
import { settle } from './settle.js';

let world: World;

beforeAll(async () => {
  world = await World.open();
});
afterAll(() => world.close());

const nothingLeft = () => Promise.resolve();

function end(claimed: ClaimedTurn, stop: LoopStop = { reason: 'completed' }, yieldToOthers = false) {
  return settle(world.transactions, claimed, { stop, record: nothingLeft }, { yieldToOthers });
}

async function turnRow(id: string): Promise<TurnRow | undefined> {
  return (await world.rows<TurnRow>('SELECT * FROM turn WHERE id = $1', [id]))[0];
}

describe('settling', () => {
  test('closes the turn, gives the lease back and rests the task in one step [K5]', async () => {
    const task = await world.task();
    const claimed = await world.openTurn(task.sessionId);
    expect(await end(claimed)).toEqual({ then: 'released' });
    expect(await turnRow(claimed.turn.id)).toMatchObject({ status: 'finished', outcome: 'completed', admission_open: false });
    expect(await world.sessionRow(task.sessionId)).toMatchObject({ state: 'idle', lease_owner: null });
    expect(await world.taskRow(task.id)).toMatchObject({ state: 'review' });
  });

  test('drains what came in meanwhile under the same lease [K5]', async () => {
    const task = await world.task();
    const claimed = await world.openTurn(task.sessionId);
    const entry = await world.prompt(task.sessionId, 'And this.');
    const settled = await end(claimed);
    expect(settled).toMatchObject({ then: 'run', claimed: { lease: claimed.lease, turn: { opening_entry_id: entry.id, number: 2 } } });
  });

  test('yields to others and announces what is left [K24]', async () => {
    const task = await world.task();
    const claimed = await world.openTurn(task.sessionId);
    await world.prompt(task.sessionId);
    const before = world.announced.filter((id) => id === task.sessionId).length;
    expect(await end(claimed, { reason: 'completed' }, true)).toEqual({ then: 'released' });
    expect(world.announced.filter((id) => id === task.sessionId)).toHaveLength(before + 1);
  });

  test('does nothing for a holder whose epoch has passed [K4]', async () => {
    const task = await world.task();
    const claimed = await world.openTurn(task.sessionId);
    await world.run((unit) => releaseLease(unit, task.sessionId, 'idle'));
    const successor = await world.claim(task.sessionId);
    expect(await end(claimed)).toEqual({ then: 'lost' });
    expect(await turnRow(claimed.turn.id)).toMatchObject({ status: 'running' });
    expect(await world.sessionRow(task.sessionId)).toMatchObject({ lease_epoch: successor.lease.epoch });
  });

  test('a turn that asked waits, although an operator’s prompt ended the wait before the turn closed [K6b, A17]', async () => {
    const parent = await world.task();
    const child = await world.task({ parent, autopilot: true });
    const claimed = await world.openTurn(child.sessionId);
    accepted(await world.services.turns.signalCompletion(world.agent(child), { summary: 'Done.' }));
    accepted(await world.services.questions.askParent(world.agent(child), { questions: [{ prompt: 'Which?' }] }, 'k'));
    accepted(await world.services.messages.send(world.operator, child.id, { prompt: 'Take A.', delivery_mode: 'queued' }));
    const settled = await end(claimed, { reason: 'tool_ended_turn', callId: 'k', tool: 'ask_parent_question_kandev' });
    expect(settled).toMatchObject({ then: 'run' });
    expect(await world.taskRow(child.id)).toMatchObject({ state: 'in_progress', result: null });
  });

  test('a pending question makes the session and its task wait [A17]', async () => {
    const parent = await world.task();
    const child = await world.task({ parent, autopilot: true });
    const claimed = await world.openTurn(child.sessionId);
    accepted(await world.services.questions.askParent(world.agent(child), { questions: [{ prompt: 'Which?' }] }, 'k'));
    await world.prompt(child.sessionId, 'Ordinary.');
    expect(await end(claimed, { reason: 'tool_ended_turn', callId: 'k', tool: 'ask_parent_question_kandev' })).toEqual({
      then: 'released',
    });
    expect(await world.sessionRow(child.sessionId)).toMatchObject({ state: 'waiting_for_input', runnable: false });
    expect(await world.taskRow(child.id)).toMatchObject({ state: 'waiting' });
  });

  test('a completion signal completes the task, tells the parent once, and ends the sessions [K20]', async () => {
    const parent = await world.task();
    const child = await world.task({ parent, autopilot: true });
    const claimed = await world.openTurn(child.sessionId);
    accepted(await world.services.turns.signalCompletion(world.agent(child), { summary: 'All built.' }));
    await end(claimed);
    expect(await world.taskRow(child.id)).toMatchObject({ state: 'completed', result: 'All built.' });
    expect(await world.sessionRow(child.sessionId)).toMatchObject({ state: 'completed', lease_owner: null });
    expect(await world.taskRow(parent.id)).toMatchObject({ open_children: 0 });
    expect((await world.entries(parent.sessionId)).map(({ kind }) => kind)).toEqual(['alert']);
  });

  test('a bad end alerts the parent once, folded while the alert waits [M14]', async () => {
    const parent = await world.task();
    const child = await world.task({ parent, autopilot: true });
    const failure: LoopStop = { reason: 'error', kind: 'model_request', message: 'the provider is down' };
    await end(await world.openTurn(child.sessionId), failure);
    await end(await world.openTurn(child.sessionId), failure);
    const alerts = (await world.entries(parent.sessionId)).filter(({ kind }) => kind === 'alert');
    expect(alerts).toHaveLength(1);
    expect(alerts[0]?.text).toContain('the provider is down');
  });

  test('what no barrier stored is stored with the end, or not at all [K4]', async () => {
    const task = await world.task();
    const claimed = await world.openTurn(task.sessionId);
    const record = () => Promise.reject(new Error('disk full'));
    await expect(settle(world.transactions, claimed, { stop: { reason: 'completed' }, record }, { yieldToOthers: false })).rejects.toThrow(
      'disk full',
    );
    expect(await turnRow(claimed.turn.id)).toMatchObject({ status: 'running' });
    expect(await world.sessionRow(task.sessionId)).toMatchObject({ state: 'running' });
  });
});

describe('parking', () => {
  const ask = { questions: [{ prompt: 'Really?' }] };

  async function asking() {
    const task = await world.task();
    const claimed = await world.openTurn(task.sessionId);
    const question = accepted(await world.services.questions.askUser(world.agent(task), ask, 'call'));
    const stop: LoopStop = { reason: 'parked', for: [{ kind: 'result', callId: 'call', waitsFor: question.id }] };
    return { task, claimed, question, stop };
  }

  test('holds no lease while a person decides, and goes on when he has [K13]', async () => {
    const { task, claimed, question, stop } = await asking();
    expect(await end(claimed, stop)).toEqual({ then: 'released' });
    expect(await world.sessionRow(task.sessionId)).toMatchObject({ state: 'parked', lease_owner: null, runnable: false });
    expect(await turnRow(claimed.turn.id)).toMatchObject({ status: 'waiting_user' });
    accepted(await world.services.questions.answerUser(world.operator, question.id, { answers: { q1: 'Yes' }, rejected: false }));
    expect(world.announced).toContain(task.sessionId);
    expect(await world.claim(task.sessionId)).toMatchObject({ turn: { id: claimed.turn.id, status: 'running' } });
  });

  test('does not park for what was decided before the lock [K13]', async () => {
    const { claimed, question, stop } = await asking();
    accepted(await world.services.questions.answerUser(world.operator, question.id, { answers: { q1: 'Yes' }, rejected: false }));
    expect(await end(claimed, stop)).toMatchObject({ then: 'resume', claimed: { turn: { id: claimed.turn.id } } });
  });

  test('a decision that races the parking is never lost, in 100 trials [K13]', async () => {
    for (let trial = 0; trial < 100; trial++) {
      const { task, claimed, question, stop } = await asking();
      const [settled] = await Promise.all([
        end(claimed, stop),
        world.services.questions.answerUser(world.operator, question.id, { answers: { q1: 'Yes' }, rejected: false }),
      ]);
      const goesOn = settled.then === 'resume' || (await world.tryClaim(task.sessionId)) !== null;
      expect(goesOn).toBe(true);
    }
  });

  test('a long wait for a provider is parked with a time, not held [K13]', async () => {
    const task = await world.task();
    const claimed = await world.openTurn(task.sessionId);
    await end(claimed, { reason: 'parked', for: [{ kind: 'retry', milliseconds: 90_000 }] });
    const session = await world.sessionRow(task.sessionId);
    expect(session).toMatchObject({ state: 'parked', lease_owner: null });
    expect(session.wake_at).not.toBeNull();
    expect(await turnRow(claimed.turn.id)).toMatchObject({ status: 'waiting_retry' });
  });
});

describe('handing over', () => {
  test('gives the lease back with the turn open, and announces it [K23]', async () => {
    const task = await world.task();
    const claimed = await world.openTurn(task.sessionId);
    expect(await end(claimed, { reason: 'handed_over' })).toEqual({ then: 'released' });
    const next = await world.claim(task.sessionId);
    expect(next.turn).toMatchObject({ id: claimed.turn.id, involuntary_resumes: 0 });
    expect(next.lease.epoch).toBe('2');
  });

  test('a task with a turn that nobody holds does not rest when another session of it does', async () => {
    const task = await world.task();
    const [claimed, other] = [await world.openTurn(task.sessionId), await world.openTurn(await world.session(task))];
    await world.handOver(claimed);
    await world.endTurn(other);
    expect((await world.taskRow(task.id)).state).toBe('in_progress');
    await world.endTurn(await world.claim(task.sessionId));
    expect((await world.taskRow(task.id)).state).toBe('review');
  });

  test('a stopped turn is closed, not handed over [K18]', async () => {
    const task = await world.task();
    const claimed = await world.openTurn(task.sessionId);
    accepted(await world.services.turns.stop(world.operator, claimed.turn.id));
    await end(claimed, { reason: 'handed_over' });
    expect(await turnRow(claimed.turn.id)).toMatchObject({ status: 'finished', outcome: 'stopped' });
  });
});

test('an entry that arrives while its target settles is drained or announced, in 40 trials [K5]', async () => {
  const task = await world.task();
  for (let trial = 0; trial < 40; trial++) {
    const claimed = await world.openTurn(task.sessionId);
    const before = world.announced.filter((id) => id === task.sessionId).length;
    const [settled] = await Promise.all([end(claimed), world.prompt(task.sessionId)]);
    const announced = world.announced.filter((id) => id === task.sessionId).length - before;
    expect(settled.then === 'run' ? announced : announced >= 1).toBe(settled.then === 'run' ? 0 : true);
    const rest = settled.then === 'run' ? settled.claimed : await world.claim(task.sessionId);
    await end(rest);
  }
});
