/** Draws of what changes the shape of a forest, or a queue. */
import { choose, inOrder, mattersToParent, sessionsOf, tasksOf, whoFor } from './choices.js';
import type { Command } from './commands.js';
import { isClosed, isWithin, type Model, named, queued, type Task } from './model.js';

export type StructureKind =
  'spawn' | 'reparent' | 'delete' | 'add_dependency' | 'remove_dependency' | 'edit_entry' | 'move_entry' | 'remove_entry';

interface StructureDraw {
  readonly do: StructureKind;
  readonly picks: readonly number[];
}

/** What the draw means now; null where the model has nothing to choose from. */
export function toStructureCommand(m: Model, drawn: StructureDraw, task: Task): Command | null {
  const [first = 0, second = 0, third = 0, fourth = 0] = drawn.picks;
  switch (drawn.do) {
    case 'spawn': {
      const by = whoFor(m, task.name, second);
      return { do: 'spawn', by, task: task.name, primary: third % 2 === 1, repeats: fourth % 3 === 2 };
    }
    case 'reparent': {
      const child = choose(inOrder(tasksOf(m), mattersToParent(m)), first) ?? task;
      const other = choose(inOrder(tasksOf(m), rootsFirst), second);
      return { do: 'reparent', task: child.name, parent: third % 3 === 2 ? null : (other?.name ?? null) };
    }
    case 'delete': {
      const gone = choose(inOrder(tasksOf(m), mattersToParent(m)), first) ?? task;
      return { do: 'delete', by: whoFor(m, gone.name, second), task: gone.name, cascade: third % 2 === 1 };
    }
    case 'add_dependency': {
      const waiting =
        choose(
          inOrder(tasksOf(m), (one) => (one.state === 'ready' && !one.archived ? 2 : 0) + (one.parent === null ? 0 : 1)),
          first,
        ) ?? task;
      const blocker =
        choose(
          inOrder(tasksOf(m), (one) => (isInLine(m, one, waiting) ? 0 : isClosed(one) ? 1 : 2)),
          third,
        ) ?? task;
      return { do: 'add_dependency', by: whoFor(m, waiting.name, second), task: waiting.name, blocker: blocker.name };
    }
    case 'remove_dependency': {
      const waiting =
        choose(
          inOrder(tasksOf(m), ({ blockers }) => blockers.length),
          first,
        ) ?? task;
      const blocker = waiting.blockers[third] ?? waiting.blockers[0] ?? task.name;
      return { do: 'remove_dependency', by: whoFor(m, waiting.name, second), task: waiting.name, blocker };
    }
    default:
      return toQueueCommand(m, drawn.do, [first, second, third]);
  }
}

const rootsFirst = ({ parent }: Task): number => (parent === null ? 1 : 0);

const isInLine = (m: Model, one: Task, other: Task): boolean => isWithin(m, one.name, other.name) || isWithin(m, other.name, one.name);

function toQueueCommand(
  m: Model,
  kind: 'edit_entry' | 'move_entry' | 'remove_entry',
  [first, second, third]: readonly [number, number, number],
): Command | null {
  const session = choose(
    inOrder(sessionsOf(m), (s) => queued(s).length),
    first,
  );
  if (!session) return null;
  const { name, entries } = session;
  const inTurn = inOrder([...entries.keys()], (at) => (entries[at]?.state === 'queued' ? 1 : 0));
  const entry = choose(inTurn, second);
  if (entry === undefined) return null;
  const revision = (named(m.sessions, name).entries[entry]?.revision ?? 1) + (third === 5 ? 1 : 0);
  if (kind === 'edit_entry') return { do: kind, session: name, entry, revision };
  if (kind === 'remove_entry') return { do: kind, session: name, entry };
  return { do: kind, session: name, entry, before: third % 3 === 2 ? null : (choose(inTurn.toReversed(), third) ?? null) };
}
