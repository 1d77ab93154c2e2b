import { describe, expect, test } from '@jest/globals';
import { blockedReasonOf, type Blocker, isBlocked, refuseDependency } from './dependency.js';
import { taskMachine } from './task.js';

const STATES = ['blocked', 'ready', 'in_progress', 'waiting', 'review', 'completed', 'failed', 'cancelled'] as const;

function task(id: string, state: Blocker['state'] = 'ready', archived = false): Blocker {
  return { id, state, archived };
}

describe('a task is blocked', () => {
  test.each(STATES)('by a blocker in state %s unless that is completed', (state) => {
    expect(isBlocked('ready', [task('b', 'completed'), task('a', state)])).toBe(state !== 'completed');
  });

  test.each(STATES)('in state %s only until it ends', (state) => {
    expect(isBlocked(state, [task('a', 'failed')])).toBe(!taskMachine.isTerminal(state));
    expect(blockedReasonOf(state, [task('a', 'failed')]) === null).toBe(taskMachine.isTerminal(state));
  });

  test('with a reason that names only those that will not complete, with their states', () => {
    expect(blockedReasonOf('blocked', [task('a'), task('b', 'completed', true)])).toBeNull();
    const reason = blockedReasonOf('blocked', [task('a', 'failed'), task('b', 'cancelled'), task('c', 'review', true), task('d')]);
    expect(reason).toContain('a (failed), b (cancelled), c (archived).');
  });
});

describe('a dependency', () => {
  const facts = { task: task('t'), blocker: task('b'), blockers: 0, upstream: [] };
  const edge = (taskId: string, blockedById: string) => ({ taskId, blockedById });

  test('on an unfinished or completed task is allowed', () => {
    expect(refuseDependency(facts)).toBeNull();
    expect(refuseDependency({ ...facts, blocker: task('b', 'completed', true) })).toBeNull();
  });

  test('that closes a cycle is refused with the shortest path from the task back to itself', () => {
    const upstream = [edge('b', 'c'), edge('b', 'd'), edge('c', 'e'), edge('e', 't'), edge('d', 't')];
    expect(refuseDependency({ ...facts, upstream })).toMatchObject({ code: 'DEPENDENCY_CYCLE', details: { path: ['t', 'b', 'd', 't'] } });
    expect(refuseDependency({ ...facts, blocker: task('t') })).toMatchObject({ code: 'DEPENDENCY_CYCLE', details: { path: ['t', 't'] } });
    expect(refuseDependency({ ...facts, upstream: [edge('b', 'c'), edge('c', 'd')] })).toBeNull();
  });

  test.each([
    ['of an ended task', { task: task('t', 'completed') }, 'TASK_TERMINAL'],
    ['of an archived task', { task: task('t', 'review', true) }, 'TASK_ARCHIVED'],
    ['on a failed task', { blocker: task('b', 'failed') }, 'TASK_TERMINAL'],
    ['on a cancelled task', { blocker: task('b', 'cancelled') }, 'TASK_TERMINAL'],
    ['on an archived task', { blocker: task('b', 'ready', true) }, 'TASK_ARCHIVED'],
    ['beyond fifty', { blockers: 50 }, 'LIMIT_EXCEEDED'],
  ] as const)('%s is refused', (_, given, code) => {
    expect(refuseDependency({ ...facts, ...given })).toMatchObject({ code });
  });
});
