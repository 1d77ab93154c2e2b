/**
 * Starting another session of a task (autopilot-contract.md §8, F13, F14): the session and the prompt that starts it are one
 * transaction under the task's lock.
 *
 * N1  The primary session is replaced when it has ended, or when asked; there is exactly one at every commit (§9, 1).
 * N2  A repeated key finds the prompt that it queued, and with it the session (K16).
 * N3  What the task's stopped sessions kept comes after that prompt, in its order: starting a session is how their queue goes on (§8).
 */
import type { SpawnedSession, SpawnSession } from '@echelon/contracts';
import {
  canonicalText,
  decideSpawn,
  isRefusal,
  type Limits,
  rankOf,
  refuse,
  type Refusal,
  type SessionState,
  type Spawn,
} from '@echelon/domain';
import {
  countSessions,
  findEntryByKey,
  holdProfile,
  insertAudit,
  insertSession,
  listSessions,
  lockSessionSets,
  lockTasks,
  type NewEntry,
  type ProfileRow,
  readSession,
  releasePrimary,
  type SessionRow,
  takeKeptEntries,
  type TaskRow,
} from '@echelon/persistence';
import { type Actor, actorName } from './actor.js';
import { hashBody, hashKey } from './business-key.js';
import { refuseCaller, sessionOf } from './caller-authority.js';
import type { Outcome } from './outcome.js';
import { inScope } from './scope.js';
import { enqueue, followChange } from './session-queue.js';
import { toSession } from './session-view.js';
import { checkTaskTexts } from './task-input.js';
import { taskEventData } from './task-view.js';
import { waitsForTree } from './tree-turns.js';
import type { Unit } from './unit-of-work.js';

export interface SpawnRequest {
  readonly actor: Actor;
  readonly taskId: string;
  readonly input: SpawnSession;
  readonly key: string | null;
  readonly limits: Limits;
}

/** Starts a session for an operator or the task's direct parent (M13), or returns the one that the key started. A refusal leaves no row. */
export async function spawnSession(unit: Unit, given: SpawnRequest): Promise<Outcome<SpawnedSession>> {
  const request = { ...given, input: toCanonical(given.input) };
  const { actor, taskId, input } = request;
  const locked = await lockTasks(unit, actor.kind === 'agent' ? [taskId, actor.taskId] : [taskId]);
  const task = inScope(
    actor,
    locked.find(({ id }) => id === taskId),
  );
  if (isRefusal(task)) return task;
  if (actor.kind === 'agent' && task.parent_id !== actor.taskId) return refuse('NOT_DIRECT_PARENT');
  const primary = await lockSessionsOf(unit, actor, task);
  const idempotency = keyOf(request);
  const earlier = idempotency && (await findEntryByKey(unit, idempotency.scope, idempotency.keyHash));
  if (earlier) {
    if (!earlier.idempotency_body_hash?.equals(idempotency.bodyHash)) return refuse('IDEMPOTENCY_MISMATCH');
    return show(unit, earlier.session_id, earlier.id, true);
  }
  const refusal = (await refuseCaller(unit, actor, locked)) ?? checkTexts(request);
  if (refusal) return refusal;
  const profile = await holdProfile(unit, task.workspace_id, input.profile_id ?? task.profile_id);
  if (!profile) return refuse('NOT_FOUND', { field: 'profile_id' });
  const decided = decide(request, { task, profile, primary, sessions: await countSessions(unit, task.id) });
  return isRefusal(decided) ? decided : store(unit, request, { task, profile, decided, idempotency });
}

/** Equal requests have equal forms, so that their hash tells whether a key is used again for the same. */
function toCanonical({ prompt, name, ...given }: SpawnSession): SpawnSession {
  return {
    ...given,
    ...(prompt === undefined ? {} : { prompt: canonicalText(prompt) }),
    ...(name === undefined ? {} : { name: canonicalText(name).trim() }),
  };
}

/** Locks the task's live sessions, its primary and the caller's; returns the primary's state. */
async function lockSessionsOf(unit: Unit, actor: Actor, task: TaskRow): Promise<SessionState | null> {
  const primary = (await listSessions(unit, task.id)).find((session) => session.is_primary);
  const ids = [...(primary ? [primary.id] : []), ...sessionOf(actor)];
  const locked = await lockSessionSets(unit, { liveOf: [task.id], ids });
  return locked.find(({ id }) => id === primary?.id)?.state ?? null;
}

function checkTexts({ input, limits }: SpawnRequest): Refusal | null {
  return checkTaskTexts({ title: null, prompt: input.prompt ?? null }, limits);
}

interface SpawnGround {
  readonly task: TaskRow;
  readonly profile: ProfileRow;
  readonly primary: SessionState | null;
  readonly sessions: Awaited<ReturnType<typeof countSessions>>;
}

function decide({ input, limits }: SpawnRequest, { task, profile, primary, sessions }: SpawnGround): Refusal | Spawn {
  const { state, archived_at, stopping, autopilot } = task;
  return decideSpawn({
    task: { state, archived: archived_at !== null, stopping, autopilot },
    kind: input.kind,
    runtime: profile.runtime,
    primary,
    makePrimary: input.make_primary,
    sessions,
    limits: { sessions: limits.sessions_per_task, spawnsPerMinute: limits.spawns_per_task_minute },
  });
}

interface Ground {
  readonly task: TaskRow;
  readonly profile: ProfileRow;
  readonly decided: Spawn;
  readonly idempotency: NewEntry['idempotency'];
}

async function store(unit: Unit, { actor, input }: SpawnRequest, { task, profile, decided, idempotency }: Ground): Promise<SpawnedSession> {
  if (decided.primary) await releasePrimary(unit, task.id);
  const session = await insertSession(unit, {
    workspaceId: task.workspace_id,
    taskId: task.id,
    kind: input.kind,
    name: input.name ?? '',
    primary: decided.primary,
    runtime: profile.runtime,
    profileId: profile.id,
  });
  await record(unit, actor, task, session);
  const { entry } = await enqueue(unit, {
    sessionId: session.id,
    rank: rankOf('prompt', { supersedes: false, interrupts: false }),
    kind: 'prompt',
    text: input.prompt ?? task.prompt,
    idempotency: idempotency ?? null,
    ...senderOf(actor),
  });
  if (session.kind === 'task')
    await followChange(unit, await takeKeptEntries(unit, { taskId: task.id, sessionId: session.id, opening: entry.text }));
  return show(unit, session.id, entry.id, false);
}

function senderOf(actor: Actor): Pick<NewEntry, 'senderKind' | 'senderTaskId' | 'senderSessionId'> {
  return actor.kind === 'operator'
    ? { senderKind: 'operator' }
    : { senderKind: 'task', senderTaskId: actor.taskId, senderSessionId: actor.sessionId };
}

async function record(unit: Unit, actor: Actor, task: TaskRow, session: SessionRow): Promise<void> {
  const about = { workspaceId: task.workspace_id, taskId: task.id };
  const detail = { session_id: session.id, kind: session.kind, primary: session.is_primary };
  await unit.tell({ ...about, type: 'session.created', sessionId: session.id, data: { state: session.state, kind: session.kind } });
  if (session.is_primary) await unit.tell({ ...about, type: 'task.updated', sessionId: null, data: taskEventData(task) });
  await insertAudit(unit, { workspaceId: task.workspace_id, actor: actorName(actor), action: 'session.spawn', subject: task.id, detail });
}

function keyOf({ actor, taskId, input, key }: SpawnRequest): NonNullable<NewEntry['idempotency']> | null {
  const given = key ?? (actor.kind === 'agent' ? actor.callId : null);
  if (given === null) return null;
  const owner = actor.kind === 'agent' ? `session:${actor.sessionId}` : `token:${actor.tokenId}`;
  return { scope: `spawn:${owner}`, keyHash: hashKey(given), bodyHash: hashBody({ task_id: taskId, ...input }) };
}

async function show(unit: Unit, sessionId: string, deliveryId: string, deduplicated: boolean): Promise<SpawnedSession> {
  const row = await readSession(unit, sessionId);
  if (!row) throw new Error(`session ${sessionId} vanished under its task's lock`);
  return { ...toSession(row, await waitsForTree(unit, unit.turnsPerTree, row)), delivery_id: deliveryId, deduplicated };
}
