/** What has happened before the operation whose process dies. */
import type { LoopStop } from '@echelon/agent-loop';
import { Workflows } from '../support/workflows.js';
import { accepted, type TestTask, type World } from '../support/world.js';
import { ASK, CALL, PARKED, PROMPTS } from './scripted-agents.js';
import { agentOf, family, open, type Stage, waiting } from './stage.js';

export type Scene = (world: World) => Promise<Stage>;

/** The child has a turn, opened by a prompt, that stops as given; another prompt may wait. */
export function busyChild(prompt: string, stop: LoopStop = { reason: 'completed' }, next?: string): Scene {
  return async (world) => {
    const stage = await family(world);
    await open(world, stage.child, prompt);
    if (next) await world.prompt(stage.child.sessionId, next);
    return { ...stage, stop };
  };
}

/** The child is about to ask a parent whose queue is paused. */
export async function pausedParent(world: World): Promise<Stage> {
  const stage = await busyChild(PROMPTS.ask)(world);
  await world.rows('UPDATE session SET auto_run = false WHERE id = $1', [stage.parent.sessionId]);
  return stage;
}

/** The parent is in the turn that the question opened. */
export async function toldParent(world: World): Promise<Stage> {
  const stage = await waiting(world);
  await world.claim(stage.parent.sessionId);
  return stage;
}

/** The same, of a parent that does not answer in this turn. */
export async function reluctantParent(world: World): Promise<Stage> {
  return { ...(await toldParent(world)), reluctant: true };
}

/** The parent is in a turn, opened by a prompt, that began before the child asked. */
export function busyParent(prompt: string, childAsks: (world: World, stage: Stage) => Promise<Stage> = waiting): Scene {
  return async (world) => {
    const stage = await family(world);
    await open(world, stage.parent, prompt);
    return childAsks(world, stage);
  };
}

/** The child waits longer than its profile allows. */
export async function expiredQuestion(world: World): Promise<Stage> {
  const stage = await waiting(world);
  await world.rows('UPDATE agent_profile SET parent_question_timeout_seconds = 1800');
  await world.rows(`UPDATE message SET created_at = created_at - interval '1 hour' WHERE id = $1`, [stage.questionId]);
  return stage;
}

/** The parent has said that its work is complete, although a child waits for it. */
export async function completingParent(world: World): Promise<Stage> {
  const stage = await busyParent(PROMPTS.complete)(world);
  await signal(world, stage, stage.parent);
  return stage;
}

export async function completingChild(world: World): Promise<Stage> {
  const stage = await busyChild(PROMPTS.complete)(world);
  await signal(world, stage, stage.child);
  return stage;
}

async function signal(world: World, stage: Stage, task: TestTask): Promise<void> {
  accepted(await world.services.turns.signalCompletion(await agentOf(world.database, stage, task), { summary: 'Done.' }));
}

/** The parent has asked the operator, who did not decide yet. */
export async function parkingParent(world: World): Promise<Stage> {
  const stage = await family(world);
  await open(world, stage.parent, PROMPTS.askUser);
  const { id } = accepted(await world.services.questions.askUser(await agentOf(world.database, stage, stage.parent), ASK, CALL));
  return { ...stage, questionId: id, stop: PARKED };
}

/** The operator has stopped the child's turn, which has yet to end. */
export async function stoppedChild(world: World): Promise<Stage> {
  const stage = await family(world);
  const { turn } = await open(world, stage.child, PROMPTS.rest);
  accepted(await world.services.turns.stop(stage.operator, turn.id));
  return { ...stage, stop: { reason: 'cancelled', by: 'stop' } };
}

/** The child is in a step whose rule moves it, when its turn ends, to the last one, which has instructions. */
export async function movingChild(world: World): Promise<Stage> {
  return inStep(world, await busyChild(PROMPTS.rest)(world), 'move_to_next');
}

/** The child is in a step that says nothing; the operator asked for a move while its turn runs. */
export async function movedChild(world: World): Promise<Stage> {
  const stage = await inStep(world, await busyChild(PROMPTS.rest)(world), 'none');
  accepted(await new Workflows(world).tasks.moveToStep(stage.operator, stage.child.id, { workflow_step_id: stage.stepId }));
  return stage;
}

/** The child rests in a step that says nothing. */
export async function restingChild(world: World): Promise<Stage> {
  const stage = await family(world);
  await world.endTurn(await open(world, stage.child, PROMPTS.rest));
  return inStep(world, stage, 'none');
}

async function inStep(world: World, stage: Stage, rule: 'none' | 'move_to_next'): Promise<Stage> {
  const steps = [
    { name: 'Plan', on_turn_complete: rule },
    { name: 'Build', instructions: 'Build.' },
  ];
  const workflow = await new Workflows(world).define(...steps);
  const [first, last] = workflow.steps;
  if (!first || !last) throw new Error('a workflow of two steps');
  await world.rows('UPDATE task SET workflow_step_id = $2 WHERE id = $1', [stage.child.id, first.id]);
  return { ...stage, stepId: last.id };
}

/** The holder of the child's turn is gone. */
export async function voidLease(world: World): Promise<Stage> {
  const stage = await busyChild(PROMPTS.ask)(world);
  await world.rows(`UPDATE session SET lease_until = now() - interval '1 second' WHERE id = $1`, [stage.child.sessionId]);
  return stage;
}

/** The child waits, and only its question's announcement to the parent is left. */
export async function announcedQuestion(world: World): Promise<Stage> {
  const stage = await waiting(world);
  await world.rows('DELETE FROM outbox WHERE session_id = $1', [stage.child.sessionId]);
  return stage;
}
