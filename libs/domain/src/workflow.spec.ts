import { describe, expect, test } from '@jest/globals';
import { LIMITS, type OnTurnComplete, refuseWorkflow, type StepDefinition, targetOf } from '@echelon/domain';

function step(name: string, rule: OnTurnComplete | `to ${string}` = 'none', instructions = ''): StepDefinition {
  const moveTo = rule.startsWith('to ') ? rule.slice(3) : null;
  return { name, onTurnComplete: moveTo === null ? (rule as OnTurnComplete) : 'move_to_step', moveTo, instructions };
}

describe('where a step leads', () => {
  const steps = [step('a', 'move_to_next'), step('b', 'to a'), step('c'), step('d', 'move_to_next')];

  test.each([
    ['to the next', 0, 1],
    ['to the named one', 1, 0],
    ['nowhere', 2, null],
    ['nowhere after the last', 3, null],
    ['nowhere from a place that is none', 4, null],
  ])('%s', (_case, place, target) => {
    expect(targetOf(steps, place)).toBe(target);
  });
});

describe('a definition', () => {
  test.each([
    ['without steps', []],
    ['with one name twice', [step('a'), step('a')]],
    ['that leads to an unknown step', [step('a', 'to b')]],
    ['that leads from a step to itself', [step('a', 'to a')]],
    ['that names a step where it leads to none', [{ ...step('a'), moveTo: 'b' }, step('b')]],
    ['that should lead to a step and names none', [{ ...step('a'), onTurnComplete: 'move_to_step' as const }]],
  ])('%s is refused', (_case, steps) => {
    expect(refuseWorkflow(steps)).toMatchObject({ code: 'INVALID_INPUT' });
  });

  test('has a limited number of steps', () => {
    const steps = Array.from({ length: LIMITS.steps_per_workflow.default + 1 }, (_, n) => step(`step ${n}`));
    expect(refuseWorkflow(steps)).toMatchObject({ code: 'INVALID_INPUT', details: { rule: 'at most 20' } });
    expect(refuseWorkflow(steps.slice(1))).toBeNull();
  });

  test('whose steps would start each other for ever is refused with the circle', () => {
    const steps = [step('plan'), step('build', 'move_to_next', 'Build.'), step('review', 'to build', 'Review.'), step('done')];
    expect(refuseWorkflow(steps)).toMatchObject({ code: 'WORKFLOW_LOOP', details: { path: ['build', 'review', 'build'] } });
  });

  test('a circle with one step that starts nothing is allowed: a task rests there until somebody speaks', () => {
    expect(refuseWorkflow([step('build', 'move_to_next'), step('review', 'to build', 'Review.')])).toBeNull();
    expect(refuseWorkflow([step('build', 'move_to_next', 'Build.'), step('review', 'to build')])).toBeNull();
  });

  test('a chain that ends is allowed, also one that leads into a circle which rests', () => {
    const steps = [step('a', 'move_to_next', 'A.'), step('b', 'move_to_next', 'B.'), step('c', 'to b'), step('d', 'none', 'D.')];
    expect(refuseWorkflow(steps)).toBeNull();
  });
});
