/** What `echelon doctor` says of the places of task folders: why sessions in them do not move. */
import type { WorkspaceRoot, WorkspaceRoots } from '@echelon/contracts';

/** One line per root; wrong is one that nobody reaches although sessions in it could run. */
export function describeRoots({ items }: WorkspaceRoots) {
  return items.map((root) => ({ name: 'workspace root', ok: root.workers > 0 || root.waiting_sessions === 0, detail: describe(root) }));
}

function describe({ id, host, path, workers, waiting_sessions: waiting }: WorkspaceRoot): string {
  const place = `${id}, ${path} on ${host}`;
  if (workers > 0) return `${place}: ${count(workers, 'worker')}, ${count(waiting, 'session')} waiting`;
  if (waiting === 0) return `${place}: no worker reaches it, and nothing waits there`;
  return `${place}: ${count(waiting, 'session')} waiting, and no worker reaches it: start one there, or where its folder was moved to`;
}

const count = (number: number, noun: string): string => `${number} ${noun}${number === 1 ? '' : 's'}`;
