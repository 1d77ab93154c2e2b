/** How small numbers choose from what the model has. What was deleted is not chosen. */
import type { Who } from './commands.js';
import { isEnded, type Model, named, pendingOf, type Session, type Task } from './model.js';

export const tasksOf = (m: Model): readonly Task[] => m.tasks.filter(({ isDeleted }) => !isDeleted);
export const sessionsOf = (m: Model): readonly Session[] => m.sessions.filter((s) => !named(m.tasks, s.task).isDeleted);

export function choose<T>(all: readonly T[], at: number): T | undefined {
  return all[at % Math.max(1, all.length)];
}

export function depthOf(m: Model, task: string): number {
  const { parent } = named(m.tasks, task);
  return parent === null ? 0 : 1 + depthOf(m, parent);
}

/** What is worth more comes first: small numbers choose it, and so does shrinking. */
export function inOrder<T>(all: readonly T[], worth: (one: T) => number): readonly T[] {
  return all.toSorted((a, b) => worth(b) - worth(a));
}

/** The session's agent in the turn that its worker holds, or in a call that names none. */
export function agent(m: Model, { name }: Session, at: number): Extract<Who, { readonly kind: 'agent' }> {
  return { kind: 'agent', session: name, turn: at % 3 === 1 ? null : (m.claims[name]?.turn ?? null) };
}

/** The operator, the parent's agents, then anybody: a sibling, a stranger, the task's own. */
export function whoFor(m: Model, task: string, at: number): Who {
  const { parent } = named(m.tasks, task);
  const operator: Who = { kind: 'operator' };
  const agents = inOrder(sessionsOf(m), (s) => (s.task === parent ? 2 : 0) + (isEnded(s) ? 0 : 1)).map((s) => agent(m, s, at));
  const likely = parent === null ? [operator] : [agents[0] ?? operator, operator, agents[0] ?? operator];
  return choose<Who>([...likely, ...agents], at) ?? operator;
}

/** First the task whose session waits for its parent, then any that has one. */
export function mattersToParent(m: Model): (task: Task) => number {
  return ({ name, parent }) => (sessionsOf(m).some((s) => s.task === name && pendingOf(m, s.name)) ? 2 : 0) + (parent === null ? 0 : 1);
}

/** Whether a child waits for the task's answer. */
export const isAsked = (m: Model, { name }: Task): boolean => m.questions.some((q) => q.parent === name && q.status === 'pending');
