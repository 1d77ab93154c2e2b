/** Random commands: a draw is a kind and a few small numbers, which choose from what the model has when its turn comes. */
import fc from 'fast-check';
import { agent, choose, depthOf, inOrder, sessionsOf, tasksOf, whoFor } from './choices.js';
import type { Command, TurnEnd, Who } from './commands.js';
import { toStructureCommand } from './draw-structure.js';
import { hasWaits, isClosed, isEnded, type Model, named, nextWork, openTurn, type Task } from './model.js';

export interface Draw {
  readonly do: Command['do'];
  readonly picks: readonly number[];
}

/** How often each kind is drawn; the prefix of every sequence makes a root and a child of it. */
const WEIGHTS: Readonly<Record<Command['do'], number>> = {
  claim: 16,
  end: 14,
  ask: 14,
  answer: 14,
  message: 12,
  create: 6,
  lose_lease: 5,
  sweep: 5,
  signal: 4,
  ask_user: 4,
  answer_user: 4,
  stop_turn: 4,
  auto_run: 3,
  back_off_passes: 2,
  time_out: 2,
  open_session: 2,
  end_session: 1,
  stop_task: 1,
  archive: 1,
  unarchive: 1,
  set_state: 1,
  spawn: 2,
  reparent: 3,
  delete: 2,
  add_dependency: 3,
  remove_dependency: 2,
  edit_entry: 1,
  move_entry: 2,
  remove_entry: 1,
};

const kinds = Object.entries(WEIGHTS) as readonly (readonly [Command['do'], number])[];
const kind = fc.oneof(...kinds.map(([name, weight]) => ({ weight, arbitrary: fc.constant(name) })));
const pick = fc.oneof({ weight: 2, arbitrary: fc.constant(0) }, { weight: 3, arbitrary: fc.nat(11) });
const picks = fc.tuple(pick, pick, pick, pick, pick);
/** Mostly what is likely. */
const fewPicks = fc.oneof({ weight: 4, arbitrary: fc.constant([0, 0, 0, 0, 0] as const) }, { weight: 1, arbitrary: picks });
const draw: fc.Arbitrary<Draw> = fc.record({ do: kind, picks });

/**
 * What seldom comes about by itself: a relayed question, a turn that no worker finishes, a parked turn that goes on, a question told anew,
 * a question whose parent goes, a task that is held and let go, a queue that another session takes over.
 */
const STORIES: readonly (readonly Command['do'][])[] = [
  ['claim', 'ask', 'end', 'claim', 'ask', 'end', 'claim', 'answer', 'end', 'claim', 'answer'],
  ['claim', 'lose_lease', 'sweep', 'claim', 'lose_lease', 'sweep', 'back_off_passes', 'claim', 'lose_lease', 'sweep'],
  ['claim', 'ask_user', 'end', 'answer_user', 'claim', 'end'],
  ['claim', 'ask', 'end', 'open_session', 'end_session'],
  ['claim', 'ask', 'end', 'reparent', 'claim'],
  ['claim', 'ask', 'end', 'delete'],
  ['add_dependency', 'message', 'set_state', 'remove_dependency'],
  ['message', 'stop_task', 'spawn', 'claim'],
  ['message', 'message', 'move_entry', 'edit_entry', 'remove_entry'],
];
const stories = STORIES.map((kinds) => fc.tuple(...kinds.map((one) => fc.record({ do: fc.constant(one), picks: fewPicks }))));
const part = fc.oneof({ weight: 20, arbitrary: fc.tuple(draw) }, ...stories.map((arbitrary) => ({ weight: 1, arbitrary })));

/** Steps of one command each, or of up to so many that run at once. */
export function sequences(atOnce: number): fc.Arbitrary<readonly (readonly Draw[])[]> {
  const draws = fc.array(part, { minLength: 4, maxLength: 14, size: 'max' }).map((parts) => parts.flat() as readonly Draw[]);
  const sizes = fc.array(fc.integer({ min: 1, max: atOnce }), { minLength: 1, maxLength: 5 });
  return fc.tuple(draws, sizes).map(([all, bySteps]) => inSteps(all, bySteps));
}

function inSteps(draws: readonly Draw[], sizes: readonly number[]): readonly (readonly Draw[])[] {
  const steps: (readonly Draw[])[] = [];
  for (let at = 0; at < draws.length; at += steps.at(-1)?.length ?? 1)
    steps.push(draws.slice(at, at + (sizes[steps.length % sizes.length] ?? 1)));
  return steps;
}

/** What the draw means now; null where the model has nothing to choose from. */
export function toCommand(m: Model, drawn: Draw, name: string): Command | null {
  const [first = 0, second = 0, third = 0, fourth = 0, fifth = 0] = drawn.picks;
  const task = choose(
    inOrder(tasksOf(m), ({ parent }) => (parent === null ? 0 : 1)),
    first,
  );
  const session = choose(
    inOrder(sessionsOf(m), (s) => (s.task === task?.name ? 1 : 0)),
    second,
  );
  if (!task || !session) return null;
  switch (drawn.do) {
    case 'create':
      return toCreate(m, task, {
        by: whoFor(m, task.name, second),
        isRoot: third % 4 === 3,
        autopilot: fifth % 3 !== 2,
        starts: fourth % 4 !== 3,
      });
    case 'ask': {
      const asker = choose(
        inOrder(sessionsOf(m), (s) => (openTurn(s) ? 2 : 0) + (named(m.tasks, s.task).autopilot ? 1 : 0)),
        first,
      );
      const earlier = choose(asker ? m.questions.filter((q) => q.session === asker.name) : [], third);
      return asker ? { do: 'ask', by: agent(m, asker, second), key: fourth % 3 === 1 && earlier ? earlier.name : name } : null;
    }
    case 'ask_user': {
      const asker = choose(
        inOrder(sessionsOf(m), (s) => (openTurn(s) ? 2 : 0) + (named(m.tasks, s.task).autopilot ? 0 : 1)),
        first,
      );
      return asker ? { do: 'ask_user', by: agent(m, asker, second) } : null;
    }
    case 'answer_user': {
      const question = choose(
        inOrder(m.userQuestions, (q) => (q.status === 'pending' ? 1 : 0)),
        first,
      );
      return question ? { do: 'answer_user', question: question.name, rejects: second % 3 === 2 } : null;
    }
    case 'message': {
      const explicit = fifth % 4 === 3 ? (choose(sessionsOf(m), third)?.name ?? null) : null;
      return { do: 'message', by: whoFor(m, task.name, second), task: task.name, session: explicit, interrupts: fourth % 3 === 2 };
    }
    case 'answer':
      return toAnswer(m, drawn.picks);
    case 'claim':
      return {
        do: 'claim',
        session: (
          choose(
            inOrder(sessionsOf(m), (s) => (nextWork(m, s) && s.lease === 'none' ? 10 : 0) + depthOf(m, s.task)),
            first,
          ) ?? session
        ).name,
      };
    case 'end': {
      const held = choose(
        inOrder(
          sessionsOf(m).filter(({ name: one }) => m.claims[one]),
          (s) => (s.lease === 'none' ? 0 : 1),
        ),
        first,
      );
      const epoch = held && m.claims[held.name]?.epoch;
      const how: TurnEnd = held && second === 0 && hasWaits(m, held) ? 'parked' : (choose(HOW, second) ?? 'completed');
      return held && epoch !== undefined ? { do: 'end', session: held.name, epoch, how, drains: third % 2 === 0 } : null;
    }
    case 'signal':
      return {
        do: 'signal',
        by: agent(
          m,
          choose(
            inOrder(sessionsOf(m), (s) => (openTurn(s) ? 1 : 0)),
            first,
          ) ?? session,
          second,
        ),
      };
    case 'stop_turn': {
      const running = choose(
        inOrder(
          sessionsOf(m).filter(({ turns }) => turns.length > 0),
          (s) => (openTurn(s) ? 1 : 0),
        ),
        first,
      );
      const turn = running ? running.turns.length - 1 - (third === 5 ? 1 : 0) : 0;
      return running && turn >= 0 ? { do: 'stop_turn', by: whoFor(m, running.task, second), session: running.name, turn } : null;
    }
    case 'stop_task':
      return { do: 'stop_task', by: whoFor(m, task.name, second), task: task.name, cascade: third % 2 === 1 };
    case 'archive':
      return { do: 'archive', by: whoFor(m, task.name, second), task: task.name };
    case 'unarchive': {
      const archived =
        choose(
          inOrder(tasksOf(m), (one) => (one.archived ? 1 : 0)),
          first,
        ) ?? task;
      return { do: 'unarchive', by: whoFor(m, archived.name, second), task: archived.name };
    }
    case 'set_state':
      return {
        do: 'set_state',
        task: task.name,
        state: choose(['completed', 'cancelled', 'failed', 'review'] as const, second) ?? 'review',
      };
    case 'auto_run':
      return { do: 'auto_run', by: whoFor(m, session.task, second), session: session.name, on: !session.autoRun || third % 3 === 2 };
    case 'time_out': {
      const question = choose(
        inOrder(m.questions, (q) => (q.status === 'pending' ? 1 : 0)),
        first,
      );
      return question ? { do: 'time_out', question: question.name } : null;
    }
    case 'open_session':
      return isClosed(task) ? null : { do: 'open_session', task: task.name };
    case 'end_session':
      return { do: 'end_session', session: session.name };
    case 'lose_lease':
      return {
        do: 'lose_lease',
        session: (
          choose(
            inOrder(sessionsOf(m), (s) => (s.lease === 'live' ? 1 : 0)),
            first,
          ) ?? session
        ).name,
      };
    case 'sweep':
      return {
        do: 'sweep',
        session: (
          choose(
            inOrder(sessionsOf(m), (s) => (s.lease === 'void' ? 1 : 0)),
            first,
          ) ?? session
        ).name,
      };
    case 'back_off_passes':
      return {
        do: 'back_off_passes',
        session: (
          choose(
            inOrder(sessionsOf(m), (s) => (openTurn(s)?.isBackingOff ? 1 : 0)),
            first,
          ) ?? session
        ).name,
      };
    default:
      return toStructureCommand(m, { do: drawn.do, picks: drawn.picks }, task);
  }
}

const HOW: readonly TurnEnd[] = ['completed', 'completed', 'tool_ended_turn', 'parked', 'loop_detected', 'error', 'handed_over', 'parked'];

function toCreate(
  m: Model,
  below: Task,
  how: { readonly by: Who; readonly isRoot: boolean; readonly autopilot: boolean; readonly starts: boolean },
): Command {
  const { by, isRoot, autopilot, starts } = how;
  const own = by.kind === 'agent' ? named(m.sessions, by.session).task : below.name;
  return {
    do: 'create',
    by: by.kind === 'agent' && by.turn === null ? { kind: 'operator' } : by,
    parent: isRoot ? null : own,
    autopilot,
    starts,
  };
}

/** The parent's answer as it should be, or one that is wrong in a way: foreign, late, to another task or session, of no question. */
function toAnswer(m: Model, [first = 0, second = 0, third = 0, fourth = 0]: readonly number[]): Command | null {
  const question = choose(
    inOrder(m.questions, (q) => (q.status === 'pending' ? 1 : 0)),
    first,
  );
  if (!question) return null;
  const asker = named(m.sessions, question.session);
  const isRight = third % 3 !== 2;
  const readers = inOrder(
    sessionsOf(m).filter(({ task }) => task === question.parent),
    (s) => (isEnded(s) ? 0 : 1),
  );
  const reader = choose(readers, second);
  const by: Who = isRight && reader ? agent(m, reader, second) : whoFor(m, asker.task, second);
  const task = fourth === 9 ? (choose(tasksOf(m), first)?.name ?? asker.task) : asker.task;
  const session = fourth === 8 ? (choose(sessionsOf(m), first)?.name ?? null) : fourth % 3 === 1 ? asker.name : null;
  return { do: 'answer', by, task, session, question: fourth === 7 ? null : question.name };
}
