/** The tree of tasks below one, as lines for a terminal. */
import type { ApiClient } from '@echelon/api-client';
import type { Task } from '@echelon/contracts';

export interface TaskNode {
  readonly task: Task;
  readonly children: readonly TaskNode[];
}

const SIGNS: Readonly<Record<Task['state'], string>> = {
  blocked: '⧖',
  ready: '·',
  in_progress: '▶',
  waiting: '?',
  review: '◇',
  completed: '✔',
  failed: '✘',
  cancelled: '–',
};

/** Reads the whole tree, level by level. */
export async function readTree(api: ApiClient, rootId: string, signal?: AbortSignal): Promise<TaskNode> {
  return readNode(api, await api.tasks.get(rootId, options(signal)), signal);
}

async function readNode(api: ApiClient, task: Task, signal?: AbortSignal): Promise<TaskNode> {
  const children: TaskNode[] = [];
  let cursor: string | undefined;
  do {
    const page = await api.tasks.list({ parent_id: task.id, limit: 200, ...(cursor ? { cursor } : {}) }, options(signal));
    for (const child of page.items) children.push(await readNode(api, child, signal));
    cursor = page.next_cursor ?? undefined;
  } while (cursor);
  return { task, children: children.toSorted((a, b) => (a.task.created_at < b.task.created_at ? -1 : 1)) };
}

function options(signal: AbortSignal | undefined): { readonly signal?: AbortSignal } {
  return signal ? { signal } : {};
}

/** One line a task. */
export function drawTree(root: TaskNode): readonly string[] {
  return [line(root.task), ...drawChildren(root, '')];
}

function drawChildren({ children }: TaskNode, indent: string): readonly string[] {
  return children.flatMap((child, index) => {
    const last = index === children.length - 1;
    return [`${indent}${last ? '└─ ' : '├─ '}${line(child.task)}`, ...drawChildren(child, `${indent}${last ? '   ' : '│  '}`)];
  });
}

function line(task: Task): string {
  const marks = [
    task.autopilot ? 'autopilot' : '',
    task.pending_action === 'clarification' ? 'question open' : (task.pending_action ?? ''),
  ];
  return [SIGNS[task.state], task.title, `[${task.state}]`, ...marks].filter(Boolean).join(' ');
}

/** Nothing in the tree runs or waits for another task: it goes on only when somebody acts. */
export function isAtRest({ task, children }: TaskNode): boolean {
  const moving = task.state === 'in_progress' || task.state === 'waiting' || task.state === 'ready' || task.state === 'blocked';
  return !moving && children.every(isAtRest);
}
