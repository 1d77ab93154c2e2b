/** Who sees what (operations.md, Trust): an agent its workspace, an operator everything. The rest does not exist for them. */
import { type Refusal, refuse } from '@echelon/domain';
import type { Actor, OperatorActor } from './actor.js';

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

/** Whether a text can be an id at all; a shortened id finds nothing. */
export function isId(text: string): boolean {
  return UUID.test(text);
}

export function seesWorkspace(actor: Actor, workspaceId: string): boolean {
  return actor.kind === 'operator' || actor.workspaceId === workspaceId;
}

/** Keeps a row that the actor sees; for anything else there is no such object, with nothing that tells why. */
export function inScope<Row extends { readonly workspace_id: string }>(actor: Actor, row: Row | null | undefined): Row | Refusal {
  return row && seesWorkspace(actor, row.workspace_id) ? row : refuse('NOT_FOUND');
}

/** The workspace that a list is limited to: an agent's own, an operator's choice, or `null` for all of them. */
export function scopeOf(actor: Actor, chosen: string | undefined): { readonly workspaceId: string | null } | Refusal {
  if (actor.kind === 'operator') return { workspaceId: chosen ?? null };
  return chosen === undefined || chosen === actor.workspaceId
    ? { workspaceId: actor.workspaceId }
    : refuse('NOT_FOUND', { field: 'workspace_id' });
}

/** Keeps an intention for operators. */
export function operatorOnly(actor: Actor): OperatorActor | Refusal {
  return actor.kind === 'operator' ? actor : refuse('FORBIDDEN');
}
