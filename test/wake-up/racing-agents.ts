/** Agents whose turns end in the moments in which messages for them arrive. */
import type { SentMessage } from '@echelon/contracts';
import type { AgentActor } from '../../libs/orchestration/src/actor.js';
import type { AgentRuntime, TurnReport } from '../../libs/orchestration/src/agent-runtime.js';
import type { ClaimedTurn } from '../../libs/orchestration/src/claim.js';
import { findEntry } from '@echelon/persistence';
import { accepted, type TestTask, type World } from '../support/world.js';
import type { Chance } from './chance.js';
import type { Process } from './deployment.js';

export interface Race {
  readonly world: World;
  readonly chance: Chance;
  readonly agents: RacingAgents;
  readonly processes: readonly Process[];
  /** What senders were told, and how often. */
  readonly told: Map<SentMessage['status'], number>;
}

/** What an agent does in a turn that an entry of its queue has opened; the turn ends with it. */
type Play = (actor: AgentActor, entryId: string) => Promise<void>;

export class RacingAgents implements AgentRuntime {
  readonly #plays = new Map<string, Play>();

  cast({ id }: TestTask, play: Play): void {
    this.#plays.set(id, play);
  }

  async run({ task, session, turn }: ClaimedTurn): Promise<TurnReport> {
    const play = this.#plays.get(task.id);
    if (!play) throw new Error(`nobody plays task ${task.id}`);
    const { workspace_id: workspaceId, id: taskId } = task;
    await play({ kind: 'agent', workspaceId, taskId, sessionId: session.id, turnId: turn.id, callId: null }, turn.opening_entry_id ?? '');
    return { stop: { reason: 'completed' }, record: () => Promise.resolve() };
  }
}

/**
 * Messages to one task, one or two at a time: in each round they are sent while the turn ends that the round before has opened, and
 * the round is over when each of them has opened one.
 */
export async function raceMessages(race: Race, messages: number): Promise<void> {
  const { world, chance, agents } = race;
  const task = await world.task();
  let sent = 0;
  let begun = 0;
  let last = Promise.withResolvers<void>();
  let end = Promise.withResolvers<void>();
  agents.cast(task, async () => {
    begun += 1;
    if (begun < sent) return chance.moment();
    last.resolve();
    await end.promise;
  });
  while (sent < messages) {
    const together = Math.min(1 + chance.upTo(2), messages - sent);
    const ending = end;
    sent += together;
    [last, end] = [Promise.withResolvers(), Promise.withResolvers()];
    const sending = Array.from({ length: together }, () => chance.moment().then(() => say(race, task)));
    await Promise.all([chance.moment().then(() => ending.resolve()), ...sending]);
    await last.promise;
  }
  end.resolve();
}

/**
 * A child asks, its parent answers, and so on: the answer comes while the child's asking turn ends, and the next question while the
 * parent's answering turn does.
 */
export async function raceQuestions(race: Race, questions: number): Promise<void> {
  const { world, chance, agents, processes } = race;
  const parent = await world.task();
  const child = await world.task({ parent, autopilot: true });
  const over = Promise.withResolvers<void>();
  let asked = 0;
  agents.cast(child, async (actor) => {
    if (asked === questions) return over.resolve();
    asked += 1;
    const ask = { questions: [{ prompt: 'Which database?' }] };
    accepted(await chance.pick(processes).questions.askParent(actor, ask, `call-${asked}`));
    await chance.moment();
  });
  agents.cast(parent, async (actor, entryId) => {
    const question = await findEntry(world.database, entryId);
    const reply = { prompt: 'Postgres.', delivery_mode: 'queued', reply_to_question_id: question?.question_id ?? '' } as const;
    note(race, accepted(await chance.pick(processes).messages.send(actor, child.id, reply)));
    await chance.moment();
  });
  await say(race, child);
  await over.promise;
}

async function say(race: Race, { id }: TestTask): Promise<void> {
  const { world, chance, processes } = race;
  const message = { prompt: 'Go on.', delivery_mode: 'queued' } as const;
  note(race, accepted(await chance.pick(processes).messages.send(world.operator, id, message)));
}

function note({ told }: Race, { status }: SentMessage): void {
  told.set(status, (told.get(status) ?? 0) + 1);
}
