/** Writes a scripted response to a connection, with the faults that the script asks for. */
import { setTimeout as delay } from 'node:timers/promises';
import type { Connection } from './connection.js';
import type { CompleteResponse, Dialect, Frame } from './dialect.js';
import type { ScriptedFault, ScriptedResponse } from './script.js';

type PlacedFault = Exclude<ScriptedFault, { kind: 'status' | 'missing_finish' | 'duplicate_finish' | 'open_end' }>;

const SSE = { 'content-type': 'text/event-stream', 'cache-control': 'no-cache' } as const;
const JSON_TYPE = { 'content-type': 'application/json' } as const;

export interface Answer {
  readonly connection: Connection;
  readonly dialect: Dialect;
  /** As the script gave it; `complete` has its defaults filled in. */
  readonly scripted: ScriptedResponse;
  readonly complete: CompleteResponse;
  readonly stream: boolean;
}

/** Ends when the body has ended, the script broke the connection, or the client went away. */
export async function respond(answer: Answer): Promise<void> {
  const { connection, dialect, complete } = answer;
  const faults = answer.scripted.faults ?? [];
  const cut = faults.find((fault) => fault.kind === 'drop' && fault.afterBytes !== undefined);
  if (cut?.kind === 'drop' && cut.afterBytes !== undefined) connection.limitBytes(cut.afterBytes);
  const waiting = faults.filter(isPlaced).toSorted((left, right) => positionOf(left) - positionOf(right));
  await applyFaults(answer, waiting, BEFORE_HEADERS);
  const failure = faults.find((fault) => fault.kind === 'status');
  if (failure !== undefined) return sendFailure(answer, failure);
  if (answer.stream) return sendStream(answer, waiting);
  connection.open(200, JSON_TYPE);
  await connection.write(JSON.stringify(dialect.document(complete)));
  connection.end();
}

async function sendFailure({ connection, dialect }: Answer, fault: Extract<ScriptedFault, { kind: 'status' }>): Promise<void> {
  const document = dialect.errorDocument(fault.status, `scripted failure ${fault.status}`);
  connection.open(fault.status, { ...JSON_TYPE, ...fault.headers });
  await connection.write(fault.body ?? JSON.stringify(document));
  connection.end();
}

async function sendStream(answer: Answer, waiting: PlacedFault[]): Promise<void> {
  const { connection, scripted } = answer;
  connection.open(200, SSE);
  await applyFaults(answer, waiting, 0);
  let chunks = 0;
  for (const frame of selectFrames(answer)) {
    if (frame.phase === 'finish' || frame.phase === 'close') await applyFaults(answer, waiting, Infinity);
    if (connection.isOver) return;
    await connection.write(frame.data);
    if (frame.phase !== 'output') continue;
    await applyFaults(answer, waiting, (chunks += 1));
    if (scripted.paceMs !== undefined) await delay(scripted.paceMs);
  }
  if (scripted.faults?.some((fault) => fault.kind === 'open_end')) await connection.ended;
  connection.end();
}

function selectFrames({ dialect, complete, scripted }: Answer): Frame[] {
  const kinds = new Set((scripted.faults ?? []).map((fault) => fault.kind));
  return dialect.frames(complete).flatMap((frame) => {
    if (frame.phase !== 'finish') return [frame];
    if (kinds.has('missing_finish')) return [];
    return kinds.has('duplicate_finish') ? [frame, frame] : [frame];
  });
}

const BEFORE_HEADERS = -1;

function isPlaced(fault: ScriptedFault): fault is PlacedFault {
  switch (fault.kind) {
    case 'drop':
      return fault.afterBytes === undefined;
    case 'status':
    case 'missing_finish':
    case 'duplicate_finish':
    case 'open_end':
      return false;
    default:
      return true;
  }
}

function positionOf(fault: PlacedFault): number {
  return fault.afterChunks ?? BEFORE_HEADERS;
}

/** Applies and removes the faults that stand at or before a position. */
async function applyFaults(answer: Answer, waiting: PlacedFault[], position: number): Promise<void> {
  while (waiting[0] !== undefined && positionOf(waiting[0]) <= position && !answer.connection.isOver) {
    await applyFault(answer, waiting[0]);
    waiting.shift();
  }
}

async function applyFault({ connection, dialect }: Answer, fault: PlacedFault): Promise<unknown> {
  switch (fault.kind) {
    case 'drop':
      return connection.drop();
    case 'silence':
      return connection.ended;
    case 'hold':
      return Promise.race([fault.until, connection.ended]);
    case 'end':
      return connection.end();
    case 'raw':
      return connection.write(fault.data);
    case 'error':
      return connection.write(dialect.errorFrame(fault.message));
  }
}
