/** Pairs of operations of which one changes the shape of the forest while the other counts on it. */
import { DEFAULT_LIMITS, isRefusal } from '@echelon/domain';
import { TaskService } from '../../libs/orchestration/src/task.service.js';
import { answer, ASK, type WaitingChild, waitingChild } from '../support/waiting-child.js';
import type { TestTask, World } from '../support/world.js';
import type { Pair } from './pairs.js';

const tasksOf = (through: World) => new TaskService(through.database, through.transactions, DEFAULT_LIMITS);

function remove(through: World, { id }: TestTask): Promise<object> {
  return tasksOf(through).delete(through.operator, id, { cascade: false });
}

interface Traces {
  readonly status: string | null;
  /** Entries that tell the child of how its wait ended, and those that tell its parents of the question. */
  readonly answers: number;
  readonly notices: number;
  readonly told: number;
}

async function tracesOf(world: World, { sessionId }: TestTask): Promise<Traces> {
  const [row] = await world.rows<Traces>(
    `SELECT (SELECT metadata->>'status' FROM message WHERE session_id = $1 AND type = 'parent_question') AS status,
       count(*) FILTER (WHERE kind = 'answer')::int AS answers, count(*) FILTER (WHERE kind = 'notice')::int AS notices,
       (SELECT count(*)::int FROM queue_entry t JOIN message q ON q.id = t.question_id AND q.session_id = $1
        WHERE t.kind = 'question' AND t.state = 'queued') AS told FROM queue_entry WHERE session_id = $1`,
    [sessionId],
  );
  if (!row) throw new Error('an aggregate gave no row');
  return row;
}

/** How the child's question ended; fails where another way left something behind, or the answer was told otherwise. */
async function howItEnded(world: World, { child }: WaitingChild, answered: unknown, noticesOfStale: number): Promise<string> {
  const { status, answers, notices, told } = await tracesOf(world, child);
  const isRefused = isRefusal(answered as object);
  const expected = status === 'answered' ? [1, 0, 0, false] : [0, noticesOfStale, 0, true];
  const found = [answers, notices, told, isRefused];
  if (found.join() !== expected.join()) throw new Error(`${status} left answers, notices, tells and a refusal: ${found.join()}`);
  return status ?? 'no question';
}

export const STRUCTURE_PAIRS: Readonly<Record<string, Pair>> = {
  'reparent and answer [R8, R12]': {
    outcomes: ['answered', 'stale'],
    async set(world) {
      const one = await waitingChild(world);
      const other = await world.task({ title: 'Another parent' });
      return {
        first: (through) => tasksOf(through).reparent(through.operator, one.child.id, other.id),
        second: (through) => answer(through, one, through.agent(one.parent)),
        async judge(moved, answered) {
          if (isRefusal(moved as object)) throw new Error('the child kept its parent');
          return howItEnded(world, one, answered, 1);
        },
      };
    },
  },

  'detach and ask [S4]': {
    outcomes: ['stale', 'NO_PARENT'],
    async set(world) {
      const parent = await world.task({ title: 'The parent' });
      const child = await world.task({ parent, autopilot: true, title: 'The child' });
      await world.openTurn(child.sessionId);
      return {
        first: (through) => tasksOf(through).reparent(through.operator, child.id, null),
        second: (through) => through.services.questions.askParent(through.agent(child), ASK, 'call-1'),
        async judge(moved, asked) {
          if (isRefusal(moved as object)) throw new Error('the child kept its parent');
          const { status, notices, told } = await tracesOf(world, child);
          if (told > 0 || notices !== (status === 'stale' ? 1 : 0)) throw new Error(`${status}, ${notices} notices, ${told} tells`);
          return isRefusal(asked as object) ? (asked as { readonly code: string }).code : (status ?? 'no question');
        },
      };
    },
  },

  'delete and answer [R12, S3]': {
    outcomes: ['answered', 'stale'],
    async set(world) {
      const one = await waitingChild(world);
      return {
        first: (through) => remove(through, one.child),
        second: (through) => answer(through, one, through.agent(one.parent)),
        async judge(removed, answered) {
          if (isRefusal(removed as object)) throw new Error('the child was not deleted');
          return howItEnded(world, one, answered, 0);
        },
      };
    },
  },

  'delete and claim [K4]': {
    outcomes: ['failed without a turn', 'delivered to a turn that was stopped'],
    async set(world) {
      const task = await world.task();
      const { id } = await world.prompt(task.sessionId);
      return {
        first: (through) => remove(through, task),
        second: (through) => through.tryClaim(task.sessionId),
        async judge(_, claimed) {
          const [row] = await world.rows<{ entry: string; turn: string | null; held: boolean }>(
            `SELECT e.state AS entry, t.outcome AS turn, s.lease_owner IS NOT NULL OR s.runnable AS held
             FROM queue_entry e JOIN session s ON s.id = e.session_id LEFT JOIN turn t ON t.session_id = s.id WHERE e.id = $1`,
            [id],
          );
          if (!row || row.held) throw new Error('a deleted task is held, or has work');
          if ((claimed !== null) !== (row.turn !== null)) throw new Error(`a claim was told otherwise than ${row.turn}`);
          return row.turn === null ? `${row.entry} without a turn` : `${row.entry} to a turn that was ${row.turn}`;
        },
      };
    },
  },
};
