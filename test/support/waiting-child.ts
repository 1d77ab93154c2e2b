/** A child that waits for its parent's answer, and what both sides may do about it. */
import type { ParentQuestion, SendMessage, SentMessage, UserQuestion } from '@echelon/contracts';
import type { QueueEntryRow } from '@echelon/persistence';
import type { Actor } from '../../libs/orchestration/src/actor.js';
import type { Outcome } from '../../libs/orchestration/src/outcome.js';
import { accepted, type TestTask, type World } from './world.js';

export const ASK = { questions: [{ prompt: 'Which database?' }] };

export interface WaitingChild {
  readonly parent: TestTask;
  readonly child: TestTask;
  readonly questionId: string;
}

/** The child has asked in its first turn, which is over; its parent, a new one where none is given, was told and did nothing yet. */
export async function waitingChild(world: World, given?: TestTask): Promise<WaitingChild> {
  const parent = given ?? (await world.task({ title: 'The parent' }));
  const child = await world.task({ parent, autopilot: true, title: 'The child' });
  const claimed = await world.openTurn(child.sessionId);
  const { question_id: questionId } = accepted(await world.services.questions.askParent(world.agent(child), ASK, 'call-1'));
  await world.endTurn(claimed);
  return { parent, child, questionId };
}

type Reply = Partial<SendMessage> & { readonly taskId?: string };

export function answer(world: World, one: WaitingChild, by: Actor, reply: Reply = {}): Promise<Outcome<SentMessage>> {
  const { taskId = one.child.id, ...input } = reply;
  const given = { prompt: 'Postgres.', delivery_mode: 'queued', reply_to_question_id: one.questionId } as const;
  return world.services.messages.send(by, taskId, { ...given, ...input });
}

export function say(world: World, by: Actor, taskId: string, more: Partial<SendMessage> = {}): Promise<Outcome<SentMessage>> {
  return world.services.messages.send(by, taskId, { prompt: 'Do this instead.', delivery_mode: 'queued', ...more });
}

export async function readQuestion(world: World, id: string): Promise<ParentQuestion | UserQuestion> {
  return accepted(await world.services.questions.get(world.operator, id));
}

export async function entriesOfKind(world: World, sessionId: string, kind: QueueEntryRow['kind']): Promise<readonly QueueEntryRow[]> {
  return (await world.entries(sessionId)).filter((entry) => entry.kind === kind);
}
