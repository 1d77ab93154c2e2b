import { describe, expect, test } from '@jest/globals';
import { queueEntryMachine, questionMachine, sessionMachine, taskMachine, turnMachine } from '@echelon/domain';
import type { Machine } from './machine.js';

interface Subject {
  readonly name: string;
  readonly machine: Machine<string, string>;
  readonly initial: string;
  readonly terminal: readonly string[];
}

const subjects: readonly Subject[] = [
  { name: 'task', machine: taskMachine, initial: 'ready', terminal: ['completed', 'failed', 'cancelled'] },
  { name: 'session', machine: sessionMachine, initial: 'created', terminal: ['completed', 'failed', 'cancelled'] },
  { name: 'turn', machine: turnMachine, initial: 'preparing', terminal: ['finished'] },
  { name: 'queue entry', machine: queueEntryMachine, initial: 'queued', terminal: ['delivered', 'cancelled', 'failed'] },
  { name: 'question', machine: questionMachine, initial: 'pending', terminal: ['answered', 'superseded', 'stale'] },
];

function reachable({ machine, initial }: Subject): ReadonlySet<string> {
  const found = new Set([initial]);
  for (const state of found) for (const event of machine.events) found.add(machine.next(state, event) ?? state);
  return found;
}

describe.each(subjects)('the $name machine', (subject) => {
  const { machine, terminal } = subject;
  const pairs = machine.states.flatMap((state) => machine.events.map((event) => ({ state, event })));

  test.each(pairs)('decides $event in $state', ({ state, event }) => {
    const to = machine.next(state, event);
    const listed = machine.transitions().find((transition) => transition.from === state && transition.event === event);
    expect(to).toBe(listed?.to);
    if (terminal.includes(state)) expect(to).toBeUndefined();
    else expect([undefined, ...machine.states]).toContain(to);
  });

  test('ends exactly in its terminal states', () => {
    expect(machine.states.filter((state) => machine.isTerminal(state))).toEqual(terminal);
  });

  test('reaches every state', () => {
    expect([...reachable(subject)].toSorted()).toEqual([...machine.states].toSorted());
  });

  test('leaves every state that is not terminal', () => {
    const stuck = machine.states.filter(
      (state) => !terminal.includes(state) && machine.events.every((event) => (machine.next(state, event) ?? state) === state),
    );
    expect(stuck).toEqual([]);
  });
});

test('a waiting session starts again, and a finished turn never does', () => {
  expect(sessionMachine.next('waiting_for_input', 'start')).toBe('running');
  expect(turnMachine.next('finished', 'begin')).toBeUndefined();
});
