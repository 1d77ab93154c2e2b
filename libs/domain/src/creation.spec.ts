import { describe, expect, test } from '@jest/globals';
import { type CreationFacts, decideCreation, refuse } from '@echelon/domain';

const PARENT = { state: 'in_progress', archived: false, stopping: false, depth: 0, children: 0 } as const;
const FACTS: CreationFacts = {
  autopilot: false,
  runtime: 'loop',
  parent: null,
  createdInTreeLastMinute: 0,
  blocked: false,
  limits: { maxDepth: 16, maxChildren: 200, createsPerTreeAndMinute: 60 },
};

describe('creating a task', () => {
  test.each<[string, Partial<CreationFacts>, object]>([
    ['a root is ready', {}, { state: 'ready', depth: 0 }],
    ['a child is one level deeper', { parent: PARENT }, { state: 'ready', depth: 1 }],
    ['open dependencies block it', { blocked: true }, { state: 'blocked', depth: 0 }],
    ['autopilot works under any parent [F4]', { autopilot: true, parent: PARENT }, { state: 'ready', depth: 1 }],
    [
      'autopilot is refused where our tools do not arrive [F9]',
      { autopilot: true, runtime: 'passthrough' },
      refuse('PROFILE_INCOMPATIBLE', { runtime: 'passthrough' }),
    ],
    [
      'autopilot is refused where somebody else drives [F9]',
      { autopilot: true, runtime: 'external' },
      refuse('PROFILE_INCOMPATIBLE', { runtime: 'external' }),
    ],
    ['autopilot runs where we drive an agent over ACP [F9]', { autopilot: true, runtime: 'acp' }, { state: 'ready', depth: 0 }],
    ['an archived parent is refused', { parent: { ...PARENT, archived: true } }, refuse('TASK_ARCHIVED')],
    ['an ended parent is refused', { parent: { ...PARENT, state: 'completed' } }, refuse('PARENT_NOT_USABLE', { state: 'completed' })],
    ['a parent that is being stopped is refused [K20]', { parent: { ...PARENT, stopping: true } }, refuse('TASK_STOPPING')],
    ['the depth is limited', { parent: { ...PARENT, depth: 16 } }, refuse('DEPTH_EXCEEDED', { max: 16 })],
    ['the children are limited', { parent: { ...PARENT, children: 200 } }, refuse('TOO_MANY_CHILDREN', { max: 200 })],
    ['the rate is limited', { createdInTreeLastMinute: 60 }, refuse('CREATE_RATE_EXCEEDED', { max_per_minute: 60 })],
  ])('%s', (_fact, change, expected) => {
    expect(decideCreation({ ...FACTS, ...change })).toEqual(expected);
  });
});
