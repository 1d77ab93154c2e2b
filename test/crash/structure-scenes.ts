/**
 * What has happened before an operation changes the shape of a forest, or a queue. One change of shape at a time happens in a workspace:
 * where many are to stand at their crash points at once, each has a workspace of its own.
 */
import { SessionService } from '../../libs/orchestration/src/session.service.js';
import { Workflows } from '../support/workflows.js';
import { accepted, type World } from '../support/world.js';
import { completingChild, type Scene } from './scenes.js';
import { PROMPTS } from './scripted-agents.js';
import { family, open, type Stage, waiting } from './stage.js';

/** The child waits for its parent. */
export async function waitingAlone(world: World): Promise<Stage> {
  return waiting(await world.elsewhere());
}

/** The child waits for its parent, and there is a task that may become its parent. */
export async function waitingBesideOther(world: World): Promise<Stage> {
  const own = await world.elsewhere();
  return withOther(own, await waiting(own));
}

/** The child has yet to begin; another task could be waited for. */
export async function promptedBesideOther(world: World): Promise<Stage> {
  const own = await world.elsewhere();
  return withOther(own, await prompted(PROMPTS.complete)(own));
}

/** The child has yet to begin, and waits for another task. */
export async function blockedChild(world: World): Promise<Stage> {
  const stage = await promptedBesideOther(world);
  if (stage.other) await addDependency(world, stage, stage.child.id, stage.other.id);
  return stage;
}

/** The child has said that it is done, and another task, which has yet to begin, waits for that. */
export async function completingBlocker(world: World): Promise<Stage> {
  const stage = await withOther(world, await completingChild(world));
  if (stage.other) {
    await world.prompt(stage.other.sessionId, PROMPTS.complete);
    await addDependency(world, stage, stage.other.id, stage.child.id);
  }
  return stage;
}

/** Prompts wait in the child's queue, in this order. */
export function prompted(...texts: readonly string[]): Scene {
  return async (world) => {
    const stage = await family(world);
    const entryIds: string[] = [];
    for (const text of texts) entryIds.push((await world.prompt(stage.child.sessionId, text)).id);
    return { ...stage, entryIds };
  };
}

/** The same, in a queue that is paused. */
export async function pausedChild(world: World): Promise<Stage> {
  const stage = await prompted(PROMPTS.complete)(world);
  const sessions = new SessionService(world.database, world.transactions);
  accepted(await sessions.setAutoRun(stage.operator, stage.child.sessionId, false));
  return stage;
}

/** The child was stopped in a turn, and its session keeps a prompt. */
export async function stoppedWithPrompt(world: World): Promise<Stage> {
  const stage = await family(world);
  await open(world, stage.child, PROMPTS.rest);
  await world.prompt(stage.child.sessionId, PROMPTS.rest);
  accepted(await new Workflows(world).tasks.stop(stage.operator, stage.child.id, { cascade: false }));
  return stage;
}

export async function archivedChild(world: World): Promise<Stage> {
  const stage = await family(world);
  accepted(await new Workflows(world).tasks.archive(stage.operator, stage.child.id));
  return stage;
}

async function withOther(world: World, stage: Stage): Promise<Stage> {
  return { ...stage, other: await world.task({ title: 'The other' }) };
}

async function addDependency(world: World, { operator }: Stage, taskId: string, blockerId: string): Promise<void> {
  accepted(await new Workflows(world).tasks.addDependency(operator, taskId, blockerId));
}
