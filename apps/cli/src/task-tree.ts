/** The tree of tasks below one, as lines for a terminal. */
import { isDeepStrictEqual } from 'node:util';
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

/**
 * Whether the tree rests: it goes on only when somebody acts. Nothing in it runs or waits for another task, no queue holds what a
 * worker is about to begin, and a second reading finds that nothing moved while the queues were read.
 */
export async function isAtRest(api: ApiClient, root: TaskNode, signal?: AbortSignal): Promise<boolean> {
  const tasks = flatten(root);
  if (tasks.some(isMoving)) return false;
  for (const task of tasks) if (await hasWork(api, task, signal)) return false;
  return isDeepStrictEqual(await readTree(api, root.task.id, signal), root);
}

/** The task and all tasks below it, parents first. */
export function flatten({ task, children }: TaskNode): readonly Task[] {
  return [task, ...children.flatMap(flatten)];
}

function isMoving({ state }: Task): boolean {
  return state === 'in_progress' || state === 'waiting' || state === 'ready' || state === 'blocked';
}

async function hasWork(api: ApiClient, { state, primary_session_id: sessionId }: Task, signal?: AbortSignal): Promise<boolean> {
  if (state !== 'review' || !sessionId) return false;
  const session = await api.sessions.get(sessionId, options(signal));
  if (session.runtime !== 'loop' || !session.auto_run || session.ended_at) return false;
  const queue = await api.sessions.listQueue(sessionId, { limit: 1 }, options(signal));
  return queue.items.length > 0;
}
