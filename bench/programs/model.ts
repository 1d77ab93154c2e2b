/**
 * The scripted model of all measurements, in a process of its own, without latency. It notes when the first request that answers a
 * marked prompt arrived: `bench-mark:<name>;` in the last user message.
 */
import { type ScriptedRequest, type ScriptedResponse, startScriptedModel } from '@echelon/scripted-model';
import { climb } from '../../test/scale/climbing-script.js';
import { now } from '../clock.js';
import { serve } from '../serve.js';
import { ASK, findMark, findQuestion, HELD, HOPS, LINES, PIECES } from './script-words.js';

/** About as much as a token. */
const PIECE = ' fox';

const arrivals = new Map<string, number[]>();
const model = await startScriptedModel({ script: respond, record: false });

serve({ url: () => model.url, takeArrivals, waitForMark, waitForHeld, release }, () => model.close());

/** Requests that get no answer before they are released. */
let held = Promise.withResolvers<void>();
let holding = 0;

async function waitForHeld({ count }: { readonly count: number }): Promise<void> {
  while (holding < count) await model.waitForRequest(model.requestCount + 1);
}

function release(): void {
  held.resolve();
  held = Promise.withResolvers();
  holding = 0;
}

/** Arrival times by mark, in ms of the common clock; each is given once. */
function takeArrivals(): Readonly<Record<string, readonly number[]>> {
  const taken = Object.fromEntries(arrivals);
  arrivals.clear();
  return taken;
}

async function waitForMark({ mark, count }: { readonly mark: string; readonly count: number }): Promise<void> {
  while ((arrivals.get(mark)?.length ?? 0) < count) await model.waitForRequest(model.requestCount + 1);
}

function respond(request: ScriptedRequest): ScriptedResponse {
  const [, lines, calls = 1] = LINES.exec(request.model) ?? [];
  if (lines) return readLines(request, Number(lines), Number(calls));
  const pieces = PIECES.exec(request.model)?.[1];
  if (pieces) return { text: Array.from({ length: Number(pieces) }, () => PIECE) };
  if (request.model === HELD) return hold();
  const last = request.messages.at(-1);
  if (last?.role !== 'user') return { text: 'That is done.' };
  const mark = findMark(last.text);
  if (mark) arrivals.set(mark, [...(arrivals.get(mark) ?? []), now()]);
  return climb(request) ?? answerChild(request, last.text) ?? (last.text.includes(ASK) ? askParent() : { text: 'Understood.' });
}

function readLines(request: ScriptedRequest, rounds: number, calls: number): ScriptedResponse {
  const round = request.messages.filter(({ role }) => role === 'assistant').length;
  if (round === rounds) return { text: 'All lines are read.' };
  const toCall = (_: unknown, at: number) => ({ name: 'read_line', arguments: { number: round * calls + at + 1 } });
  return { toolCalls: Array.from({ length: calls }, toCall) };
}

function hold(): ScriptedResponse {
  holding++;
  return { text: 'Understood.', faults: [{ kind: 'hold', until: held.promise }] };
}

function askParent(): ScriptedResponse {
  return { toolCalls: [{ name: 'ask_parent_question_kandev', arguments: { questions: [{ prompt: 'Which one?' }] } }] };
}

/** A parent on the loop: its own prompt says how often the child goes round, and under which mark. */
function answerChild({ messages }: ScriptedRequest, text: string): ScriptedResponse | null {
  const question = findQuestion(text);
  const [, hops, mark] = HOPS.exec(messages[0]?.text ?? '') ?? [];
  if (!question || !hops || !mark) return null;
  const answered = messages.filter(({ toolCalls }) => toolCalls.length > 0).length;
  const prompt = `bench-mark:${mark}; ${answered + 1 < Number(hops) ? ASK : 'Go on alone.'}`;
  return { toolCalls: [{ name: 'message_task_kandev', arguments: { ...question, prompt } }] };
}
