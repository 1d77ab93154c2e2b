/** The pairs of operations that race, each with its stage and with what may come of them. */
import { isRefusal } from '@echelon/domain';
import { expireQuestion } from '../../libs/orchestration/src/ending.js';
import type { ClaimedTurn } from '../../libs/orchestration/src/claim.js';
import { answer, ASK, say, type WaitingChild, waitingChild } from '../support/waiting-child.js';
import type { TestTask, World } from '../support/world.js';
import { STEP_PAIRS } from './step-pairs.js';
import { STRUCTURE_PAIRS } from './structure-pairs.js';

/** A stage that is set: what both do, each through a door of its own, and what holds once both are over. */
export interface Race {
  readonly first: (through: World) => Promise<unknown>;
  readonly second: (through: World) => Promise<unknown>;
  /** What came of it, in one word of the pair's `outcomes`; fails where the losers left something behind. */
  readonly judge: (first: unknown, second: unknown) => Promise<string>;
}

export interface Pair {
  readonly set: (world: World) => Promise<Race>;
  /** Every outcome that some order must bring about; no other may be. */
  readonly outcomes: readonly string[];
}

/** What a session's queue and turns show of a race. */
interface Traces {
  readonly status: string | null;
  readonly answers: number;
  readonly notices: number;
  readonly superseding: number;
  readonly turns: number;
  readonly questions: number;
  readonly parentPrompts: number;
}

async function tracesOf(world: World, child: TestTask, parent: TestTask): Promise<Traces> {
  const [row] = await world.rows<Traces>(
    `SELECT (SELECT metadata->>'status' FROM message WHERE session_id = $1 AND type = 'parent_question' ORDER BY sequence DESC LIMIT 1) AS status,
       (SELECT count(*)::int FROM message WHERE session_id = $1 AND type = 'parent_question') AS questions,
       count(*) FILTER (WHERE kind = 'answer')::int AS answers, count(*) FILTER (WHERE kind = 'notice')::int AS notices,
       count(*) FILTER (WHERE kind = 'prompt' AND rank = 0)::int AS superseding,
       (SELECT count(*)::int FROM turn WHERE session_id = $1) AS turns,
       (SELECT count(*)::int FROM queue_entry WHERE session_id = $2 AND kind = 'question' AND state <> 'cancelled') AS "parentPrompts"
     FROM queue_entry WHERE session_id = $1`,
    [child.sessionId, parent.sessionId],
  );
  return row!;
}

/** The one way in which a wait ended, with the traces of that way and of no other. */
async function howItEnded(world: World, { child, parent }: WaitingChild): Promise<string> {
  const { status, answers, notices, superseding } = await tracesOf(world, child, parent);
  const expected = { answered: [1, 0, 0], superseded: [0, 0, 1], stale: [0, 1, 0], pending: [0, 0, 0] }[status ?? ''];
  const found = [answers, notices, superseding];
  if (JSON.stringify(found) !== JSON.stringify(expected)) throw new Error(`${status} left ${JSON.stringify(found)} behind`);
  return status!;
}

/** The code of a refusal; `null` for any other outcome. */
function refusalOf(outcome: unknown): string | null {
  return typeof outcome === 'object' && outcome !== null && isRefusal(outcome) ? outcome.code : null;
}

/** What an answer was told, in a word: its status, or the code of its refusal. */
function wordOf(outcome: unknown): string {
  return refusalOf(outcome) ?? (outcome as { readonly status: string }).status;
}

async function family(world: World): Promise<{ readonly parent: TestTask; readonly child: TestTask; readonly claimed: ClaimedTurn }> {
  const parent = await world.task({ title: 'The parent' });
  const child = await world.task({ parent, autopilot: true, title: 'The child' });
  return { parent, child, claimed: await world.openTurn(child.sessionId) };
}

const ask = (world: World, child: TestTask, key: string) => world.services.questions.askParent(world.agent(child), ASK, key);

/** Whether some turn will run what the session has to do: it is announced, or its worker goes on with it. */
async function willRun(world: World, session: string): Promise<boolean> {
  const row = await world.sessionRow(session);
  return row.runnable || row.state === 'running';
}

export const PAIRS: Readonly<Record<string, Pair>> = {
  ...STEP_PAIRS,
  ...STRUCTURE_PAIRS,

  'ask and ask [A3]': {
    outcomes: ['one question'],
    async set(world) {
      const { parent, child } = await family(world);
      return {
        first: (through) => ask(through, child, 'call-1'),
        second: (through) => ask(through, child, 'call-2'),
        async judge(one, other) {
          if (JSON.stringify(one) !== JSON.stringify(other)) throw new Error('two asks were told of two questions');
          const { questions, parentPrompts } = await tracesOf(world, child, parent);
          return questions === 1 && parentPrompts === 1 ? 'one question' : `${questions} questions, ${parentPrompts} prompts`;
        },
      };
    },
  },

  'answer and answer [R3, K8]': {
    outcomes: ['first', 'second'],
    async set(world) {
      const one = await waitingChild(world);
      const reply = (text: string) => (through: World) => answer(through, one, through.agent(one.parent), { prompt: text });
      return {
        first: reply('Postgres.'),
        second: reply('SQLite.'),
        async judge(...replies) {
          if ((await howItEnded(world, one)) !== 'answered') return 'nobody';
          const words = replies.map(wordOf);
          if (words.filter((word) => word === 'already_answered').length !== 1) throw new Error(`answers were told ${words.join()}`);
          return words[0] === 'already_answered' ? 'second' : 'first';
        },
      };
    },
  },

  'answer and superseding prompt [R12, S1]': {
    outcomes: ['answered', 'superseded'],
    async set(world) {
      const one = await waitingChild(world);
      return {
        first: (through) => answer(through, one, through.agent(one.parent)),
        second: (through) => say(through, through.operator, one.child.id),
        judge: (answered) => endedAs(world, one, answered),
      };
    },
  },

  'answer and time-out [R12, S8]': {
    outcomes: ['answered', 'stale'],
    async set(world) {
      const one = await waitingChild(world);
      return {
        first: (through) => answer(through, one, through.agent(one.parent)),
        second: (through) => expireQuestion(through.transactions, one.questionId),
        judge: (answered) => endedAs(world, one, answered),
      };
    },
  },

  'answer and end of the parent [R12, S4]': {
    outcomes: ['answered', 'stale'],
    async set(world) {
      const one = await waitingChild(world);
      return {
        first: (through) => answer(through, one, through.agent(one.parent)),
        second: (through) => through.move(one.parent, 'complete'),
        judge: (answered) => endedAs(world, one, answered),
      };
    },
  },

  'answer and end of the child’s session [R12, S3]': {
    outcomes: ['answered', 'stale'],
    async set(world) {
      const one = await waitingChild(world);
      return {
        first: (through) => answer(through, one, through.agent(one.parent)),
        second: (through) => through.endSession(one.child, one.child.sessionId),
        async judge(answered) {
          const { status } = await tracesOf(world, one.child, one.parent);
          if ((wordOf(answered) === 'sent') !== (status === 'answered')) throw new Error(`${status}, but told ${wordOf(answered)}`);
          return status!;
        },
      };
    },
  },

  'ask and end of its turn [K5, A17]': {
    outcomes: ['asked', 'TURN_NOT_ACTIVE'],
    async set(world) {
      const { parent, child, claimed } = await family(world);
      const agent = world.agent(child, { turnId: claimed.turn.id });
      return {
        first: (through) => through.services.questions.askParent(agent, ASK, 'call-1'),
        second: (through) => through.endTurn(claimed),
        async judge(asked) {
          const { status, parentPrompts } = await tracesOf(world, child, parent);
          const session = await world.sessionRow(child.sessionId);
          if (refusalOf(asked) !== null)
            return status === null && parentPrompts === 0 && session.state === 'idle' ? wordOf(asked) : 'a trace of a refused ask';
          return status === 'pending' && parentPrompts === 1 && session.state === 'waiting_for_input' ? 'asked' : `asked, ${session.state}`;
        },
      };
    },
  },

  'ask and end of the parent [A12, S4]': {
    outcomes: ['PARENT_UNAVAILABLE', 'stale'],
    async set(world) {
      const { parent, child } = await family(world);
      return {
        first: (through) => ask(through, child, 'call-1'),
        second: (through) => through.move(parent, 'complete'),
        async judge(asked) {
          const { status, parentPrompts, notices } = await tracesOf(world, child, parent);
          if (refusalOf(asked)) return status === null && parentPrompts === 0 ? wordOf(asked) : 'a trace of a refused ask';
          return parentPrompts === 0 && notices === 1 ? status! : `${status} with ${parentPrompts} prompts and ${notices} notices`;
        },
      };
    },
  },

  'message and end of the turn [K5]': {
    outcomes: ['announced'],
    async set(world) {
      const task = await world.task();
      const claimed = await world.openTurn(task.sessionId);
      return {
        first: (through) => say(through, through.operator, task.id),
        second: (through) => through.endTurn(claimed),
        async judge(sent) {
          if (refusalOf(sent)) return wordOf(sent);
          return (await willRun(world, task.sessionId)) ? 'announced' : 'lost';
        },
      };
    },
  },

  'stop of the turn and answer [S3]': {
    outcomes: ['answered'],
    async set(world) {
      const { parent, child, claimed } = await family(world);
      const asked = await ask(world, child, 'call-1');
      if (isRefusal(asked)) throw new Error(asked.code);
      const one = { parent, child, questionId: asked.question_id };
      return {
        first: (through) => through.services.turns.stop(through.operator, claimed.turn.id),
        second: (through) => answer(through, one, through.agent(parent)),
        async judge(stopped) {
          if (refusalOf(stopped)) return wordOf(stopped);
          const session = await world.sessionRow(child.sessionId);
          if (session.auto_run) throw new Error('the stop did not pause the queue');
          return howItEnded(world, one);
        },
      };
    },
  },

  'claim and end of the turn that fills its tree [K10, K24]': {
    outcomes: ['claimed', 'announced'],
    async set(world) {
      const { held, waiting, capped } = await fullTree(world, 1);
      return {
        first: (through) => capped(through).tryClaim(waiting[0]!),
        second: (through) => capped(through).endTurn(held[0]!),
        judge: async (claimed) => (claimed ? 'claimed' : (await isAnnounced(world, waiting[0]!)) ? 'announced' : 'lost'),
      };
    },
  },

  'two claims of a tree with one turn free [K24]': {
    outcomes: ['first', 'second'],
    async set(world) {
      const { held, waiting, capped } = await fullTree(world, 2);
      await capped(world).endTurn(held[0]!);
      return {
        first: (through) => capped(through).tryClaim(waiting[0]!),
        second: (through) => capped(through).tryClaim(waiting[1]!),
        judge: async (one, other) => (one && other ? 'both' : one ? 'first' : other ? 'second' : 'none'),
      };
    },
  },
};

/** A tree that may run so many turns and runs them all, and as many of its sessions that wait for one. */
async function fullTree(world: World, cap: number) {
  const root = await world.task();
  const held: ClaimedTurn[] = [];
  const waiting: string[] = [];
  for (let turn = 0; turn < cap; turn++) {
    held.push(await world.openTurn((await world.task({ parent: root })).sessionId));
    waiting.push((await world.task({ parent: root })).sessionId);
  }
  for (const session of waiting) await world.prompt(session);
  await world.rows('DELETE FROM outbox');
  return { held, waiting, capped: (through: World) => through.limitedTo({ turns_per_tree: cap }) };
}

async function isAnnounced(world: World, session: string): Promise<boolean> {
  return (await world.rows('SELECT id FROM outbox WHERE session_id = $1', [session])).length > 0;
}

/** How the wait ended; whoever answered was told so. */
async function endedAs(world: World, one: WaitingChild, answered: unknown): Promise<string> {
  const how = await howItEnded(world, one);
  if ((how === 'answered') === (refusalOf(answered) !== null)) throw new Error(`${how}, but the answer was told ${wordOf(answered)}`);
  if (!(await willRun(world, one.child.sessionId))) throw new Error(`${how}, and nothing wakes the child`);
  return how;
}
