/** Alerts in a parent's queue: never an interrupt, never refused for capacity (autopilot-contract.md §8). */
import { blockedReasonOf, taskMachine, type TurnOutcome } from '@echelon/domain';
import { findQueuedAlert, findTask, listBlockers, listChildren, replaceEntryText, type TaskRow } from '@echelon/persistence';
import { badEndText, childrenCompletedText, haltedText } from '../alert-text.js';
import { enqueue, followChange } from '../session-queue.js';
import { toBlocker } from '../task-view.js';
import type { Unit } from '../unit-of-work.js';
import { reachTask } from './receivers.js';

const CHILDREN_NAMED = 20;

export interface BadEnd {
  readonly turnId: string;
  readonly outcome: TurnOutcome;
  readonly detail: string | null;
  /** It ended well, but without the signal that its step requires. */
  readonly missesSignal?: boolean;
}

/**
 * Tells the parent of a task that a turn of it ended badly, and that it cannot go on where that is so: one entry, and a later end
 * replaces the text of one that still waits.
 */
export async function alertParent(unit: Unit, task: TaskRow, end: BadEnd): Promise<void> {
  const reason = blockedReasonOf(task.state, (await listBlockers(unit, task.id)).map(toBlocker));
  await alertAbout(unit, task, () => [badEndText(task, end), ...(reason ? [haltedText(task, reason)] : [])]);
}

/** Tells the parent of a task that it waits for a blocker that will not complete, in the alert about it that still waits, if one does. */
export async function alertHalted(unit: Unit, task: TaskRow): Promise<void> {
  const reason = blockedReasonOf(task.state, (await listBlockers(unit, task.id)).map(toBlocker));
  if (reason) await alertAbout(unit, task, (told) => [...(told ? [told] : []), haltedText(task, reason)]);
}

/** One alert about a child waits at most; `write` gets what that one says. */
async function alertAbout(unit: Unit, task: TaskRow, write: (told: string | null) => readonly string[]): Promise<void> {
  const parent = task.parent_id && (await findTask(unit, task.parent_id));
  if (!parent || !isOpen(parent)) return;
  const waiting = await findQueuedAlert(unit, parent.id, task.id);
  const text = write(waiting?.text ?? null).join('\n\n');
  if (waiting) return followChange(unit, await replaceEntryText(unit, waiting.id, text));
  await alert(unit, parent, { text, about: task.id });
}

/** Tells a parent that every direct child of its current set has ended (K20); nothing where the last one left for another parent. */
export async function alertChildrenCompleted(unit: Unit, parent: TaskRow): Promise<void> {
  if (!isOpen(parent)) return;
  const children = await listChildren(unit, parent.id, CHILDREN_NAMED + 1);
  if (children.length === 0) return;
  await alert(unit, parent, {
    text: childrenCompletedText(parent.child_set, children.slice(0, CHILDREN_NAMED), children.length > CHILDREN_NAMED),
    about: null,
  });
}

function isOpen(task: TaskRow): boolean {
  return task.archived_at === null && !taskMachine.isTerminal(task.state);
}

async function alert(unit: Unit, parent: TaskRow, what: { readonly text: string; readonly about: string | null }): Promise<void> {
  const reach = await reachTask(unit, parent.id);
  if (reach.kind === 'none') return;
  await enqueue(unit, {
    sessionId: reach.sessionId,
    rank: 2,
    kind: 'alert',
    text: what.text,
    senderKind: 'system',
    senderTaskId: what.about,
  });
}
