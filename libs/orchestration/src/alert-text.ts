/** Texts of alerts, for an agent that knows nothing of us but its tools. */
import type { TurnOutcome } from '@echelon/domain';
import type { TaskRow } from '@echelon/persistence';
import { quote, quoteInline } from './peer-text.js';

/** A subtask's turn ended badly. */
export function badEndText(
  task: TaskRow,
  end: { readonly outcome: TurnOutcome; readonly detail: string | null; readonly missesSignal?: boolean },
): string {
  const name = `${quoteInline(task.title)} (task_id ${task.id})`;
  return [
    `Notice from the system: a turn of your subtask ${name} did not end well.`,
    end.missesSignal ? 'It ended without the completion signal that its step requires.' : `Outcome: ${end.outcome}.`,
    ...(end.detail ? ['Details, as they were recorded:', quote(end.detail)] : []),
    '',
    `Unless more waits in its queue, the subtask rests now and does nothing by itself. Read what happened with`,
    `get_task_conversation_kandev, then decide: send it instructions with message_task_kandev (task_id ${task.id}), do the work another`,
    'way, or leave it.',
  ].join('\n');
}

/** A subtask depends on a task that will not complete; `reason` names it. */
export function haltedText(task: TaskRow, reason: string): string {
  return [
    `Notice from the system: your subtask ${quoteInline(task.title)} (task_id ${task.id}) cannot go on. ${reason}`,
    '',
    `It opens no turn until then. Decide: let it go on without that work with remove_task_dependency_kandev (task_id ${task.id}), have the`,
    'work done another way first, or leave it.',
  ].join('\n');
}

/** All direct children of the current set have ended. */
export function childrenCompletedText(set: number, children: readonly TaskRow[], more: boolean): string {
  return [
    `Notice from the system: all of your subtasks have ended (set ${set}).`,
    '',
    ...children.map((child) => `- ${quoteInline(child.title)} (task_id ${child.id}): ${child.state}`),
    ...(more ? ['- and more: list them with list_related_tasks_kandev'] : []),
    '',
    'Read their results with get_task_kandev where you need them, then go on with your own task.',
  ].join('\n');
}
