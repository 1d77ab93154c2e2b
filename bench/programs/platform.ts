/** The product as one process of a deployment: with a worker, or (`BENCH_WORKER=false`) as the server that only takes requests. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { AgentActor } from '@echelon/orchestration';
import { createPlatform, readConfig } from '@echelon/platform';
import { now } from '../clock.js';
import type { Begun, Contestant } from '../contestant.js';
import { paced } from '../paced.js';
import { serve } from '../serve.js';
import { until } from '../until.js';
import { accepted, createProfile, createWorkspace, OPERATOR } from './platform-setup.js';
import { createRestCost } from './rest-cost.js';
import { createTreeWork } from './platform-tree.js';
import { createWaitingWork } from './platform-waiting.js';
import { ASK, hopsPrompt, markedPrompt } from './script-words.js';

const POLL_MS = 5;
const QUESTIONS = 100;

const platform = await createPlatform(readConfig(), { worker: process.env.BENCH_WORKER !== 'false' });
const { services, database } = platform;
const operator = OPERATOR;
const workspaceId = await createWorkspace(services);
const profiles = {
  loop: await createProfile(services, workspaceId, 'loop'),
  external: await createProfile(services, workspaceId, 'external'),
};
const roots: string[] = [];
const parents = new Map<string, AgentActor>();
let children = 0;

const contestant: Contestant = {
  ...{ createRoots, send, createFamilies, answerOneByOne, answerAll, goRound },
  ...createWaitingWork(platform),
  restCost: createRestCost(process.env.DATABASE_URL ?? ''),
};
serve({ ...contestant, ...createTreeWork(platform, { operator, workspaceId, profileId: profiles.loop }) }, () => platform.close());

async function createRoots({ count }: { readonly count: number }): Promise<void> {
  for (let made = 0; made < count; made++) roots.push((await createTask({ prompt: 'Wait for orders.' })).id);
  await until(isQuiet);
}

async function send({ mark, count, everyMs }: Parameters<Contestant['send']>[0]): Promise<readonly Begun[]> {
  const sent = await paced(count, { everyMs, rest: () => until(isQuiet) }, (number) => sendOne(`${mark}-${number}`, number));
  await until(isQuiet);
  return sent;
}

async function sendOne(mark: string, number: number): Promise<Begun> {
  const prompt = markedPrompt(mark, 'Go on.');
  accepted(await services.messages.send(operator, roots[number % roots.length] ?? '', { prompt, delivery_mode: 'queued' }));
  return { mark, at: now() };
}

/** The parents are agents that someone else runs: nothing of theirs takes time here. */
async function createFamilies({ parents: count, children: each }: Parameters<Contestant['createFamilies']>[0]): Promise<void> {
  for (let made = 0; made < count; made++) {
    const parent = await createTask({ prompt: 'Answer.', profile_id: profiles.external });
    const { id: taskId, primary_session_id: sessionId } = parent;
    parents.set(taskId, { kind: 'agent', workspaceId, taskId, sessionId: sessionId ?? '', turnId: null, callId: null });
    for (let child = 0; child < each; child++) await createTask({ ...childOf(taskId), profile_id: profiles.loop });
  }
  children += count * each;
  await until(allWait);
}

async function answerOneByOne({ mark, count }: Parameters<Contestant['answerOneByOne']>[0]): Promise<readonly Begun[]> {
  const waiting = await listWaiting();
  const begun: Begun[] = [];
  for (let number = 0; number < count; number++) {
    const question = waiting[number % waiting.length];
    if (!question) throw new Error('no child waits');
    begun.push(await answer(question, `${mark}-${number}`));
    await until(allWait);
    if (number % waiting.length === waiting.length - 1) waiting.splice(0, waiting.length, ...(await listWaiting()));
  }
  return begun;
}

async function answerAll({ times }: Parameters<Contestant['answerAll']>[0]): Promise<{ readonly answers: number; readonly ms: number }> {
  const startedAt = now();
  const answered = new Map<string, Promise<Begun>>();
  const rounds = new Map<string, number>();
  for (;;) {
    const waiting = (await listWaiting()).filter(({ id }) => !answered.has(id));
    const due = waiting.filter(({ task_id }) => (rounds.get(task_id) ?? 0) < times);
    if (due.length === 0 && waiting.length === children) break;
    for (const question of due) {
      rounds.set(question.task_id, (rounds.get(question.task_id) ?? 0) + 1);
      answered.set(question.id, answer(question, 'all'));
    }
    await sleep(POLL_MS);
  }
  await Promise.all(answered.values());
  return { answers: answered.size, ms: now() - startedAt };
}

async function goRound({ mark, times }: Parameters<Contestant['goRound']>[0]): Promise<void> {
  const parent = await createTask({ prompt: hopsPrompt(times, mark), profile_id: profiles.loop });
  await until(isQuiet);
  await createTask(childOf(parent.id));
}

interface Question {
  readonly id: string;
  readonly task_id: string;
  readonly parent_task_id: string;
}

async function listWaiting(): Promise<Question[]> {
  const { items } = accepted(await services.questions.list(operator, { kind: 'parent', status: 'pending', limit: QUESTIONS }));
  return items.flatMap((item) => ('parent_task_id' in item && parents.has(item.parent_task_id) ? [item] : []));
}

async function answer({ id, task_id, parent_task_id }: Question, mark: string): Promise<Begun> {
  const parent = parents.get(parent_task_id);
  if (!parent) throw new Error('a question to a stranger');
  const at = now();
  const reply = { prompt: markedPrompt(mark, ASK), delivery_mode: 'queued', reply_to_question_id: id } as const;
  accepted(await services.messages.send(parent, task_id, reply));
  return { mark, at };
}

async function allWait(): Promise<boolean> {
  return (await isQuiet()) && (await listWaiting()).length === children;
}

async function isQuiet(): Promise<boolean> {
  const [row] = await database.query<{ busy: boolean }>(
    'SELECT EXISTS (SELECT 1 FROM session WHERE runnable OR lease_owner IS NOT NULL) AS busy',
  );
  return row?.busy === false;
}

function childOf(parentId: string) {
  return { parent_id: parentId, prompt: ASK, autopilot: true } as const;
}

async function createTask(given: {
  readonly prompt: string;
  readonly parent_id?: string;
  readonly autopilot?: boolean;
  readonly profile_id?: string;
}) {
  const place = given.parent_id === undefined ? { workspace_id: workspaceId } : {};
  return accepted(await services.tasks.create(operator, { autopilot: false, blocked_by: [], start_agent: true, ...place, ...given }, null));
}
