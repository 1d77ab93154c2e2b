/**
 * DBOS as a contestant: a session is a workflow, a model request a step, questions and answers are messages between workflows.
 * With a worker, or (`BENCH_WORKER=false`) as a client that sends to one elsewhere. What only the measurement needs (who waits) is
 * kept in memory, at no cost for DBOS.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { now } from '../clock.js';
import type { Begun, Contestant } from '../contestant.js';
import { paced } from '../paced.js';
import { serve } from '../serve.js';
import { until } from '../until.js';
import { complete, type Completion } from './bare-completion.js';
import { type DbosClient, importDbos } from './dbos-sdk.js';
import { eachAtOnce } from './each-at-once.js';
import { createRestCost } from './rest-cost.js';
import { ASK, hopsPrompt, markedPrompt } from './script-words.js';

const POLL_MS = 5;
const DRAIN_POLL_MS = 50;
const FOREVER = { timeoutSeconds: 30 * 86_400 };
const NAME = 'bench';
const TURN = 'turn';

const modelUrl = process.env.ECHELON_SCRIPTED_MODEL_URL ?? '';
const systemDatabaseUrl = process.env.DATABASE_URL ?? '';
const { DBOS, DBOSClient } = await importDbos();
const watching = new pg.Pool({ connectionString: systemDatabaseUrl, max: 1 });
watching.on('error', () => undefined);
const roots: string[] = [];
const children: string[] = [];
const waiting = new Set<string>();
let sent = 0;
let created = 0;

const workflows = {
  turn: DBOS.registerWorkflow(runTurn, { name: 'turn' }),
  session: DBOS.registerWorkflow(runSession, { name: 'session' }),
  child: DBOS.registerWorkflow(runChild, { name: 'child' }),
  parent: DBOS.registerWorkflow(runParent, { name: 'parent' }),
  absentParent: DBOS.registerWorkflow(waitForever, { name: 'absentParent' }),
};
const client = process.env.BENCH_WORKER === 'false' ? await connect() : await launch();

const contestant: Contestant = {
  ...{ createRoots, send, createFamilies, answerOneByOne, answerAll, goRound },
  multiply: ({ copies }) => createFamilies({ parents: copies, children: 10 }),
  countWaiting: () => Promise.resolve(waiting.size),
  answerMany,
  restCost: createRestCost(systemDatabaseUrl),
};
serve({ ...contestant }, close);

function connect(): Promise<DbosClient> {
  return DBOSClient.create({ systemDatabaseUrl, applicationName: NAME });
}

async function launch(): Promise<null> {
  DBOS.setConfig({ name: NAME, systemDatabaseUrl, logLevel: 'error' });
  await DBOS.launch();
  await DBOS.registerQueue('sessions');
  return null;
}

async function close(): Promise<void> {
  await watching.end();
  await client?.destroy();
}

/** In one process a prompt is a workflow of its own, which DBOS starts at once; from elsewhere it is a message to a workflow that waits. */
async function createRoots({ count }: { readonly count: number }): Promise<void> {
  for (let made = 0; made < count; made++) {
    const id = `root-${++created}`;
    await client?.enqueue({ queueName: 'sessions', workflowName: 'session', workflowID: id });
    roots.push(id);
  }
}

async function send({ mark, count, everyMs }: Parameters<Contestant['send']>[0]): Promise<readonly Begun[]> {
  const rest = () => until(isQuiet);
  const begun = await paced(count, { everyMs, rest }, (number) => sendOne(`${mark}-${number}`, number));
  await rest();
  return begun;
}

async function sendOne(mark: string, number: number): Promise<Begun> {
  const prompt = markedPrompt(mark, 'Go on.');
  sent++;
  if (client) await client.send(roots[number % roots.length] ?? '', prompt, 'prompt');
  else await DBOS.startWorkflow(workflows.turn)(prompt);
  return { mark, at: now() };
}

async function isQuiet(): Promise<boolean> {
  const { rows } = await watching.query<{ done: number }>(
    'SELECT count(*)::int AS done FROM dbos.operation_outputs WHERE function_name = $1',
    [TURN],
  );
  return rows[0]?.done === sent;
}

async function createFamilies({ parents, children: each }: Parameters<Contestant['createFamilies']>[0]): Promise<void> {
  for (let made = 0; made < parents; made++) {
    const parent = await start(workflows.absentParent);
    for (let child = 0; child < each; child++) children.push(await start(workflows.child, parent));
  }
  await until(allWait);
}

async function answerOneByOne({ mark, count }: Parameters<Contestant['answerOneByOne']>[0]): Promise<readonly Begun[]> {
  const begun: Begun[] = [];
  for (let number = 0; number < count; number++) {
    begun.push(await answer(children[number % children.length] ?? '', `${mark}-${number}`));
    await until(allWait);
  }
  return begun;
}

async function answerAll({ times }: Parameters<Contestant['answerAll']>[0]): Promise<{ readonly answers: number; readonly ms: number }> {
  const startedAt = now();
  const rounds = new Map<string, number>();
  const begun: Promise<Begun>[] = [];
  for (;;) {
    const due = [...waiting].filter((id) => (rounds.get(id) ?? 0) < times);
    if (due.length === 0 && waiting.size === children.length) break;
    for (const id of due) {
      rounds.set(id, (rounds.get(id) ?? 0) + 1);
      begun.push(answer(id, 'all'));
    }
    await sleep(POLL_MS);
  }
  await Promise.all(begun);
  return { answers: begun.length, ms: now() - startedAt };
}

async function answerMany({ count }: Parameters<Contestant['answerMany']>[0]): Promise<{ readonly answers: number; readonly ms: number }> {
  const before = waiting.size;
  const startedAt = now();
  await eachAtOnce([...waiting].slice(0, count), (id) => answer(id, 'many'));
  await until(() => Promise.resolve(waiting.size === before), DRAIN_POLL_MS);
  return { answers: count, ms: now() - startedAt };
}

async function goRound({ mark, times }: Parameters<Contestant['goRound']>[0]): Promise<void> {
  await start(workflows.child, await start(workflows.parent, times, mark));
}

async function answer(child: string, mark: string): Promise<Begun> {
  const at = now();
  waiting.delete(child);
  await DBOS.send(child, markedPrompt(mark, ASK), 'answer');
  return { mark, at };
}

function allWait(): Promise<boolean> {
  return Promise.resolve(children.every((id) => waiting.has(id)));
}

async function start<Args extends unknown[]>(workflow: (...args: Args) => Promise<unknown>, ...args: Args): Promise<string> {
  const workflowID = `workflow-${++created}`;
  await DBOS.startWorkflow(workflow, { workflowID })(...args);
  return workflowID;
}

/** One prompt, one request. */
async function runTurn(prompt: string): Promise<void> {
  await request([{ role: 'user', content: prompt }]);
}

async function runSession(): Promise<void> {
  for (;;) {
    const prompt = await DBOS.recv('prompt', FOREVER);
    if (prompt !== null) await runTurn(prompt);
  }
}

/** Asks as often as the model says so, and waits for each answer. */
async function runChild(parent: string): Promise<void> {
  const id = DBOS.workflowID ?? '';
  let prompt: string | null = ASK;
  while (prompt !== null) {
    const { calls } = await request([{ role: 'user', content: prompt }]);
    if (calls.length === 0) return;
    await DBOS.send(parent, JSON.stringify({ task_id: id, session_id: id, reply_to_question_id: id }), 'question');
    waiting.add(id);
    prompt = await DBOS.recv('answer', FOREVER);
  }
}

/** A parent that the model plays: answers so many questions under the mark. */
async function runParent(times: number, mark: string): Promise<void> {
  for (let left = times; left > 0; left--) {
    const question = (await DBOS.recv('question', FOREVER)) ?? '';
    const messages = [hopsPrompt(left, mark), question].map((content) => ({ role: 'user', content }));
    const { calls } = await request(messages);
    const [call] = calls;
    if (!call) return;
    const { session_id, prompt } = JSON.parse(call.function.arguments) as { readonly session_id: string; readonly prompt: string };
    await DBOS.send(session_id, prompt, 'answer');
    await request([
      ...messages,
      { role: 'assistant', tool_calls: calls },
      { role: 'tool', tool_call_id: call.id, content: 'That is sent.' },
    ]);
  }
}

async function waitForever(): Promise<void> {
  await DBOS.recv('end', FOREVER);
}

function request(messages: readonly object[]): Promise<Completion> {
  return DBOS.runStep(() => complete(modelUrl, { model: 'scripted', messages }), { name: TURN });
}
