/** The bare contestant: the same durable steps, the same model; with a worker, or (`BENCH_WORKER=false`) sending to one elsewhere. */
import { setTimeout as sleep } from 'node:timers/promises';
import { now } from '../clock.js';
import type { Begun, Contestant } from '../contestant.js';
import { paced } from '../paced.js';
import { serve } from '../serve.js';
import { until } from '../until.js';
import { complete } from './bare-completion.js';
import { BareSessions, type BareTurn } from './bare-sessions.js';
import { eachAtOnce } from './each-at-once.js';
import { createRestCost } from './rest-cost.js';
import { ASK, hopsPrompt, markedPrompt } from './script-words.js';

const POLL_MS = 5;
const DRAIN_POLL_MS = 50;

const modelUrl = process.env.ECHELON_SCRIPTED_MODEL_URL ?? '';
const databaseUrl = process.env.DATABASE_URL ?? '';
const sessions = await BareSessions.open(databaseUrl);
const away = process.env.BENCH_WORKER === 'false';
/** Parents that the model plays: how many answers are left, and under which mark. */
const played = new Map<number, { left: number; readonly mark: string }>();
const roots: number[] = [];
const children: number[] = [];
let created = 0;

if (!away) await sessions.listen(wake);

const contestant: Contestant = {
  ...{ createRoots, send, createFamilies, answerOneByOne, answerAll, goRound },
  multiply: async ({ copies }) => void (await sessions.multiply(copies)),
  countWaiting,
  answerMany,
  restCost: createRestCost(databaseUrl),
};
serve({ ...contestant });

async function createRoots({ count }: { readonly count: number }): Promise<void> {
  for (let made = 0; made < count; made++) roots.push(await create());
}

async function send({ mark, count, everyMs }: Parameters<Contestant['send']>[0]): Promise<readonly Begun[]> {
  const rest = () => until(() => sessions.isQuiet());
  const sent = await paced(count, { everyMs, rest }, (number) => sendOne(`${mark}-${number}`, number));
  await rest();
  return sent;
}

async function sendOne(mark: string, number: number): Promise<Begun> {
  const sessionId = roots[number % roots.length] ?? 0;
  await sessions.send(sessionId, markedPrompt(mark, 'Go on.'), away);
  if (!away) wake(sessionId);
  return { mark, at: now() };
}

async function createFamilies({ parents, children: each }: Parameters<Contestant['createFamilies']>[0]): Promise<void> {
  for (let made = 0; made < parents; made++) {
    const parent = await create({ driven: false });
    for (let child = 0; child < each; child++) children.push(await startChild(parent));
  }
  await until(allWait);
}

async function answerOneByOne({ mark, count }: Parameters<Contestant['answerOneByOne']>[0]): Promise<readonly Begun[]> {
  const begun: Begun[] = [];
  for (let number = 0; number < count; number++) {
    begun.push(await answer(children[number % children.length] ?? 0, `${mark}-${number}`));
    await until(allWait);
  }
  return begun;
}

async function answerAll({ times }: Parameters<Contestant['answerAll']>[0]): Promise<{ readonly answers: number; readonly ms: number }> {
  const startedAt = now();
  const rounds = new Map<number, number>();
  const answering = new Set<number>();
  const begun: Promise<void>[] = [];
  for (;;) {
    const waiting = (await sessions.listWaiting()).filter((id) => children.includes(id) && !answering.has(id));
    const due = waiting.filter((id) => (rounds.get(id) ?? 0) < times);
    if (due.length === 0 && waiting.length === children.length) break;
    for (const id of due) {
      rounds.set(id, (rounds.get(id) ?? 0) + 1);
      answering.add(id);
      begun.push(answer(id, 'all').then(() => void answering.delete(id)));
    }
    await sleep(POLL_MS);
  }
  return { answers: begun.length, ms: now() - startedAt };
}

async function countWaiting(): Promise<number> {
  return (await sessions.listWaiting()).length;
}

async function answerMany({ count }: Parameters<Contestant['answerMany']>[0]): Promise<{ readonly answers: number; readonly ms: number }> {
  const waiting = await sessions.listWaiting();
  const startedAt = now();
  await eachAtOnce(waiting.slice(0, count), (id) => answer(id, 'many'));
  await until(async () => (await countWaiting()) === waiting.length, DRAIN_POLL_MS);
  return { answers: count, ms: now() - startedAt };
}

async function goRound({ mark, times }: Parameters<Contestant['goRound']>[0]): Promise<void> {
  const parent = await create();
  played.set(parent, { left: times, mark });
  await startChild(parent);
}

async function answer(sessionId: number, mark: string): Promise<Begun> {
  const at = now();
  await sessions.answer(sessionId, markedPrompt(mark, ASK));
  wake(sessionId);
  return { mark, at };
}

async function allWait(): Promise<boolean> {
  const waiting = new Set(await sessions.listWaiting());
  return children.every((id) => waiting.has(id)) && sessions.isQuiet();
}

async function create({
  parentId = null,
  driven = true,
}: { readonly parentId?: number | null; readonly driven?: boolean } = {}): Promise<number> {
  const id = ++created;
  await sessions.create({ id, parentId, driven });
  return id;
}

async function startChild(parentId: number): Promise<number> {
  const id = await create({ parentId });
  await sessions.send(id, ASK, false);
  wake(id);
  return id;
}

function wake(sessionId: number): void {
  void runTurns(sessionId);
}

async function runTurns(sessionId: number): Promise<void> {
  for (let turn = await sessions.claim(sessionId); turn !== null; turn = await sessions.claim(sessionId)) {
    if (!(await runTurn(turn))) return;
  }
}

/** One turn of the session; tells whether it may have more to do. */
async function runTurn(turn: BareTurn): Promise<boolean> {
  if (roots.includes(turn.sessionId)) await sessions.prepare(turn);
  const messages = [...preludeOf(turn), { role: 'user', content: turn.text }];
  const { calls } = await complete(modelUrl, { model: 'scripted', messages });
  const [call] = calls;
  if (call?.function.name === 'ask_parent_question_kandev') return askParent(turn);
  if (call) {
    await answerAsTold(call.function.arguments);
    await complete(modelUrl, { model: 'scripted', messages: [...messages, { role: 'assistant', tool_calls: calls }, toResult(call.id)] });
  }
  await sessions.settle(turn);
  return true;
}

function preludeOf({ sessionId }: BareTurn): readonly object[] {
  const parent = played.get(sessionId);
  return parent ? [{ role: 'user', content: hopsPrompt(parent.left--, parent.mark) }] : [];
}

async function askParent(turn: BareTurn): Promise<false> {
  const id = String(turn.sessionId);
  const parentId = await sessions.ask(turn, JSON.stringify({ task_id: id, session_id: id, reply_to_question_id: id }));
  if (played.has(parentId)) wake(parentId);
  return false;
}

async function answerAsTold(input: string): Promise<void> {
  const { session_id, prompt } = JSON.parse(input) as { readonly session_id: string; readonly prompt: string };
  await sessions.answer(Number(session_id), prompt);
  wake(Number(session_id));
}

function toResult(id: string): object {
  return { role: 'tool', tool_call_id: id, content: 'That is sent.' };
}
