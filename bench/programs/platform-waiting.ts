/** Many sessions of the product that wait for their parents, whichever process they asked in. */
import { isRefusal } from '@echelon/domain';
import type { Platform } from '@echelon/platform';
import { now } from '../clock.js';
import type { Contestant } from '../contestant.js';
import { until } from '../until.js';
import { eachAtOnce } from './each-at-once.js';
import { multiplyFamily } from './multiply-family.js';
import { ASK, markedPrompt } from './script-words.js';

const DRAIN_POLL_MS = 50;
const PENDING = `type = 'parent_question' AND metadata->>'status' = 'pending'`;

type WaitingWork = Pick<Contestant, 'multiply' | 'countWaiting' | 'answerMany'>;

interface Waiting {
  readonly id: string;
  readonly workspace_id: string;
  readonly task_id: string;
  readonly parent_task_id: string;
  readonly parent_session_id: string;
}

export function createWaitingWork({ services, database }: Pick<Platform, 'services' | 'database'>): WaitingWork {
  const countWaiting = async () => {
    const [row] = await database.query<{ count: number }>(`SELECT count(*)::int FROM message WHERE ${PENDING}`);
    return row?.count ?? 0;
  };

  const listWaiting = (count: number) =>
    database.query<Waiting>(
      `SELECT id, workspace_id, metadata->>'task_id' AS task_id, metadata->>'parent_task_id' AS parent_task_id,
         metadata->>'parent_session_id' AS parent_session_id FROM message WHERE ${PENDING} LIMIT $1`,
      [count],
    );

  const answer = async ({ id, workspace_id, task_id, parent_task_id, parent_session_id }: Waiting) => {
    const parent = { kind: 'agent', workspaceId: workspace_id, taskId: parent_task_id, sessionId: parent_session_id } as const;
    const reply = { prompt: markedPrompt('many', ASK), delivery_mode: 'queued', reply_to_question_id: id } as const;
    const sent = await services.messages.send({ ...parent, turnId: null, callId: null }, task_id, reply);
    if (isRefusal(sent)) throw new Error(`refused: ${sent.code} ${JSON.stringify(sent.details)}`);
  };

  return {
    countWaiting,
    multiply: async ({ copies }) => {
      const [first] = await listWaiting(1);
      if (!first) throw new Error('no child waits');
      await multiplyFamily(process.env.DATABASE_URL ?? '', first.parent_task_id, copies);
    },
    answerMany: async ({ count }) => {
      const before = await countWaiting();
      const waiting = await listWaiting(count);
      const startedAt = now();
      await eachAtOnce(waiting, answer);
      await until(async () => (await countWaiting()) === before, DRAIN_POLL_MS);
      return { answers: waiting.length, ms: now() - startedAt };
    },
  };
}
