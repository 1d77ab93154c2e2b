/**
 * Creation of a task: one transaction that answers a repeated key, checks authority, counts and limits under locks, and stores
 * the task with its primary session and, where the agent is to start, the prompt in that session's queue (F1–F10).
 *
 * C1  Locks first and once (K11): the caller's task, the parent, the tree's root and the blockers, in one statement. Under them
 *     the parent's state and children, the tree's rate and the blockers' states cannot change before the commit (K20).
 * C2  A repeated key is answered before anything is checked, and again under the locks; where no lock orders two creations with
 *     one key, the unique index does (K16, F8).
 * C3  The profile is held as it is until the commit, so that an edit cannot take the contract away in between (F9, F11).
 */
import type { CreatedTask } from '@echelon/contracts';
import {
  type Creation,
  decideCreation,
  isBlocked,
  isRefusal,
  type Limits,
  rankOf,
  refuse,
  type Refusal,
  refuseBlocker,
} from '@echelon/domain';
import {
  countChildIn,
  countRecentlyCreated,
  type CreationKey,
  findTaskByKey,
  findWaitedFor,
  holdFirstProfile,
  holdProfile,
  insertAudit,
  insertDependencies,
  insertPrimarySession,
  insertTask,
  listLineage,
  lockSessions,
  lockTasks,
  newId,
  type ProfileRow,
  readTask,
  type TaskRow,
} from '@echelon/persistence';
import { type Actor, actorName } from './actor.js';
import { refuseCaller, sessionOf } from './caller-authority.js';
import type { Outcome } from './outcome.js';
import { enqueue } from './session-queue.js';
import { checkTaskTexts, placeholderTitle, type TaskInput } from './task-input.js';
import { findPlace, type Place } from './task-place.js';
import { taskEventData, toBlocker, toTask } from './task-view.js';
import type { Unit } from './unit-of-work.js';
import { chooseStep } from './workflow-choice.js';

const RATE_SECONDS = 60;

export interface CreationRequest {
  readonly actor: Actor;
  readonly input: TaskInput;
  readonly key: CreationKey | null;
  readonly limits: Limits;
}

/** What is known of a creation once everything is locked. */
interface Ground {
  readonly place: Place;
  readonly parent: TaskRow | null;
  readonly blockers: readonly TaskRow[];
  readonly profile: ProfileRow;
  /** The step of a workflow that it starts in. */
  readonly stepId: string | null;
}

/** Creates the task, or returns the one that the key created. A refusal leaves no row. */
export async function createTask(unit: Unit, request: CreationRequest): Promise<Outcome<CreatedTask>> {
  const earlier = await findEarlier(unit, request.key);
  if (earlier) return earlier;
  const place = await findPlace(unit, request.actor, request.input);
  if (isRefusal(place)) return place;
  const locked = await lockGround(unit, request, place);
  const meanwhile = await findEarlier(unit, request.key);
  if (meanwhile) return meanwhile;
  const ground = await checkGround(unit, request, place, locked);
  if (isRefusal(ground)) return ground;
  const tooLong = checkTaskTexts(request.input, request.limits);
  if (tooLong) return tooLong;
  const decided = await decide(unit, request, ground);
  if (isRefusal(decided)) return decided;
  const task = await store(unit, request, ground, decided);
  if (task) return show(unit, task.id, false);
  const first = await findEarlier(unit, request.key);
  if (!first) throw new Error('a task under this key exists and cannot be read');
  return first;
}

async function findEarlier(unit: Unit, key: CreationKey | null): Promise<Outcome<CreatedTask> | null> {
  const task = key && (await findTaskByKey(unit, key));
  if (!task) return null;
  if (task.deleted_at) return refuse('NOT_FOUND', { task_id: task.id });
  if (!task.idempotency_body_hash?.equals(key.bodyHash)) return refuse('IDEMPOTENCY_MISMATCH', { task_id: task.id });
  return show(unit, task.id, true);
}

async function show(unit: Unit, taskId: string, deduplicated: boolean): Promise<CreatedTask> {
  const view = await readTask(unit, taskId);
  if (!view) throw new Error(`task ${taskId} vanished in its own transaction`);
  return { ...toTask(view), deduplicated };
}

async function lockGround(unit: Unit, { actor, input }: CreationRequest, place: Place): Promise<readonly TaskRow[]> {
  const caller = actor.kind === 'agent' ? [actor.taskId] : [];
  const above = [place.parentId, place.rootId].filter((id) => id !== null);
  const ids = [...new Set([...caller, ...above, ...input.blocked_by])];
  const [tasks] = await Promise.all([lockTasks(unit, ids), lockSessions(unit, sessionOf(actor))]);
  return tasks;
}

async function checkGround(
  unit: Unit,
  { actor, input }: CreationRequest,
  place: Place,
  locked: readonly TaskRow[],
): Promise<Ground | Refusal> {
  const refusal = await refuseCaller(unit, actor, locked);
  if (refusal) return refusal;
  const parent = locked.find(({ id }) => id === place.parentId) ?? null;
  if (!parent && place.parentId !== null) return refuse('NOT_FOUND', { field: 'parent_id' });
  if (!parent && input.workspace_mode === 'inherit_parent')
    return refuse('INVALID_INPUT', { field: 'workspace_mode', rule: 'inherit_parent needs a parent' });
  const blockers = locked.filter((task) => input.blocked_by.includes(task.id) && task.workspace_id === place.workspaceId);
  if (blockers.length < input.blocked_by.length) return refuse('NOT_FOUND', { field: 'blocked_by' });
  const halting = blockers.map((task) => refuseBlocker(toBlocker(task), 'blocked_by')).find((each) => each !== null);
  if (halting) return halting;
  const above = parent && blockers.length > 0 ? await findWaitedFor(unit, input.blocked_by, await listLineage(unit, parent.id)) : null;
  if (above !== null) return refuse('DEPENDENCY_IN_LINE', { field: 'blocked_by', task_id: above });
  const profile = await chooseProfile(unit, place.workspaceId, input.profile_id, parent);
  if (isRefusal(profile)) return profile;
  const step = await chooseFirstStep(unit, place.workspaceId, input);
  return isRefusal(step) ? step : { place, parent, blockers, profile, stepId: step.id };
}

/** The profile that was named; else the parent's; else the workspace's first. */
async function chooseProfile(unit: Unit, workspaceId: string, named: string | null, parent: TaskRow | null): Promise<ProfileRow | Refusal> {
  if (named) return (await holdProfile(unit, workspaceId, named)) ?? refuse('NOT_FOUND', { field: 'profile_id' });
  const inherited = parent && (await holdProfile(unit, workspaceId, parent.profile_id));
  const chosen = inherited ?? (await holdFirstProfile(unit, workspaceId));
  return chosen ?? refuse('INVALID_INPUT', { field: 'profile_id', rule: 'the workspace has no agent profile yet: create one' });
}

/** Without a workflow a task has no step. */
async function chooseFirstStep(unit: Unit, workspaceId: string, input: TaskInput): Promise<{ readonly id: string | null } | Refusal> {
  const { workflow_id: workflowId = null, workflow_step_id: stepId = null } = input;
  return workflowId === null && stepId === null ? { id: null } : chooseStep(unit, { workspaceId, workflowId, stepId });
}

async function decide(unit: Unit, { input, limits }: CreationRequest, ground: Ground): Promise<Creation | Refusal> {
  const { parent, place, blockers } = ground;
  const { workspaceId, rootId } = place;
  return decideCreation({
    autopilot: input.autopilot,
    runtime: ground.profile.runtime,
    parent: parent && {
      state: parent.state,
      archived: parent.archived_at !== null,
      stopping: parent.stopping,
      depth: parent.depth,
      children: parent.open_children,
    },
    createdInTreeLastMinute: rootId ? await countRecentlyCreated(unit, { workspaceId, rootId, seconds: RATE_SECONDS }) : 0,
    blocked: isBlocked('ready', blockers.map(toBlocker)),
    limits: {
      maxDepth: limits.depth,
      maxChildren: limits.children_per_task,
      createsPerTreeAndMinute: limits.creates_per_tree_minute,
    },
  });
}

/** Stores everything of the task; `null` when another transaction stored one under the same key first. */
async function store(unit: Unit, request: CreationRequest, ground: Ground, decided: Creation): Promise<TaskRow | null> {
  const { actor, input } = request;
  const task = await insertRow(unit, request, ground, decided);
  if (!task) return null;
  await insertDependencies(unit, task.id, input.blocked_by);
  if (ground.parent) await countChildIn(unit, ground.parent.id);
  const { runtime, id: profileId } = ground.profile;
  const session = await insertPrimarySession(unit, { workspaceId: task.workspace_id, taskId: task.id, runtime, profileId });
  const about = { workspaceId: task.workspace_id, taskId: task.id };
  await unit.tell({ ...about, type: 'task.created', sessionId: null, data: taskEventData(task) });
  await unit.tell({ ...about, type: 'session.created', sessionId: session.id, data: { state: session.state, kind: session.kind } });
  if (input.start_agent) await queuePrompt(unit, session.id, actor, task.prompt);
  const detail = { parent_id: task.parent_id, autopilot: task.autopilot };
  await insertAudit(unit, { workspaceId: task.workspace_id, actor: actorName(actor), action: 'task.create', subject: task.id, detail });
  return task;
}

function insertRow(unit: Unit, request: CreationRequest, ground: Ground, { state, depth }: Creation): Promise<TaskRow | null> {
  const { actor, input, key, limits } = request;
  const { parent, place, profile } = ground;
  const id = newId();
  const workspaceMode = input.workspace_mode ?? (parent ? 'inherit_parent' : 'new_workspace');
  return insertTask(unit, {
    id,
    workspaceId: place.workspaceId,
    parentId: parent?.id ?? null,
    depth,
    title: input.title ?? placeholderTitle(input.prompt, limits),
    titleSource: input.title === null ? 'provisional' : 'manual',
    prompt: input.prompt,
    autopilot: input.autopilot,
    state,
    profileId: profile.id,
    workspaceMode,
    folder: parent && workspaceMode === 'inherit_parent' ? parent.folder : id,
    startWhenUnblocked: input.start_agent,
    createdBySessionId: actor.kind === 'agent' ? actor.sessionId : null,
    idempotency: key,
    workflowStepId: ground.stepId,
  });
}

/** The prompt waits in the queue; while the task is blocked, admission holds it there. */
async function queuePrompt(unit: Unit, sessionId: string, actor: Actor, prompt: string): Promise<void> {
  const sender =
    actor.kind === 'operator'
      ? ({ senderKind: 'operator' } as const)
      : ({ senderKind: 'task', senderTaskId: actor.taskId, senderSessionId: actor.sessionId } as const);
  const rank = rankOf('prompt', { supersedes: false, interrupts: false });
  await enqueue(unit, { sessionId, rank, kind: 'prompt', text: prompt, ...sender });
}
