/** Draws: a kind and a few small numbers, which choose from what the model has when their turn comes. Zeros choose what is likely. */
import { agent, choose, depthOf, inOrder, isAsked, mattersToParent, sessionsOf, tasksOf, whoFor } from './choices.js';
import type { Command, TurnEnd, Who } from './commands.js';
import { toStructureCommand } from './draw-structure.js';
import { hasWaits, isClosed, isEnded, type Model, named, nextWork, openTurn, type Session, type Task } from './model.js';

export interface Draw {
  readonly do: Command['do'];
  readonly picks: readonly number[];
  /** Runs at once with the draw before it, where that has room. */
  readonly joins: boolean;
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
        inOrder(sessionsOf(m), (s) => asksReadily(m, s, fifth === LONELY)),
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
      const to = (fifth === WAITING && choose(inOrder(tasksOf(m), mattersToParent(m)), first)) || task;
      return { do: 'message', by: whoFor(m, to.name, second), task: to.name, session: explicit, interrupts: fourth % 3 === 2 };
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
    case 'archive': {
      const worth = mattersToParent(m);
      const archived =
        choose(
          inOrder(tasksOf(m), (one) => (isAsked(m, one) ? 4 : 0) + worth(one)),
          first,
        ) ?? task;
      return { do: 'archive', by: whoFor(m, archived.name, second), task: archived.name };
    }
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
        task: (choose(inOrder(tasksOf(m), mattersToParent(m)), first) ?? task).name,
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

/** Fifth picks that choose what is seldom there: a task under autopilot without a parent, a task that waits for its parent. */
const LONELY = 2;
const WAITING = 2;

/** Who asks first: in the middle of a turn and under autopilot; or where nobody is to be asked. */
function asksReadily(m: Model, s: Session, lonely: boolean): number {
  const { autopilot, parent } = named(m.tasks, s.task);
  if (lonely) return autopilot && parent === null ? 1 : 0;
  return (openTurn(s) ? 2 : 0) + (autopilot ? 1 : 0);
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
