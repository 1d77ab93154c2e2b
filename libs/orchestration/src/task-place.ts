/** Where a task is created: which workspace, below whom, and whether the caller may. */
import { refuse, type Refusal } from '@echelon/domain';
import { findTask, findDefaultWorkspace, listLineage, workspaceExists, type TaskRow, type Tx } from '@echelon/persistence';
import type { Actor } from './actor.js';
import { seesWorkspace } from './scope.js';

export interface Place {
  readonly workspaceId: string;
  readonly parentId: string | null;
  /** Root of the parent's tree; the parent itself where it has no parent; `null` for a new root. */
  readonly rootId: string | null;
}

export interface PlaceRequest {
  readonly workspace_id: string | null;
  readonly parent_id: string | null;
}

/** An operator creates anywhere, an agent below its own task only: a child's authority never exceeds its parent's. */
export async function findPlace(tx: Tx, actor: Actor, request: PlaceRequest): Promise<Place | Refusal> {
  if (request.workspace_id !== null && !seesWorkspace(actor, request.workspace_id)) return refuse('NOT_FOUND', { field: 'workspace_id' });
  if (request.parent_id !== null) return findPlaceBelow(tx, actor, request, request.parent_id);
  if (actor.kind === 'agent') return refuseOutsideOwnTask();
  const workspaceId = await chooseWorkspace(tx, request.workspace_id);
  return typeof workspaceId === 'string' ? { workspaceId, parentId: null, rootId: null } : workspaceId;
}

async function findPlaceBelow(tx: Tx, actor: Actor, request: PlaceRequest, parentId: string): Promise<Place | Refusal> {
  const parent: TaskRow | null = await findTask(tx, parentId);
  if (!parent || !seesWorkspace(actor, parent.workspace_id)) return refuse('NOT_FOUND', { field: 'parent_id' });
  if (request.workspace_id !== null && request.workspace_id !== parent.workspace_id)
    return refuse('INVALID_INPUT', { field: 'workspace_id', rule: 'the workspace of the parent' });
  const lineage = await listLineage(tx, parent.id);
  if (actor.kind === 'agent' && !lineage.includes(actor.taskId)) return refuseOutsideOwnTask();
  return { workspaceId: parent.workspace_id, parentId: parent.id, rootId: lineage.at(-1) ?? parent.id };
}

function refuseOutsideOwnTask(): Refusal {
  return refuse('FORBIDDEN', { field: 'parent_id', rule: 'your own task or a task below it' });
}

/** The workspace that was named, or the default. */
async function chooseWorkspace(tx: Tx, named: string | null): Promise<string | Refusal> {
  if (named !== null) return (await workspaceExists(tx, named)) ? named : refuse('NOT_FOUND', { field: 'workspace_id' });
  const found = await findDefaultWorkspace(tx);
  return (
    found?.id ?? refuse('INVALID_INPUT', { field: 'workspace_id', rule: 'required where there are several and none is named default' })
  );
}
