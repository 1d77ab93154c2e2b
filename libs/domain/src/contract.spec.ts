import { describe, expect, test } from '@jest/globals';
import { deriveContract, RUNTIME_KINDS, type SessionKind, withoutTurnEnding } from '@echelon/domain';

const KINDS: readonly SessionKind[] = ['task', 'quick_chat', 'config', 'utility'];
const cells = [true, false].flatMap((autopilot) =>
  [true, false].flatMap((hasParent) =>
    KINDS.flatMap((sessionKind) => RUNTIME_KINDS.map((runtime) => ({ autopilot, hasParent, sessionKind, runtime }))),
  ),
);

describe('the contract of a session [D1]', () => {
  test.each(cells)('never offers both question tools: %j', (facts) => {
    const { capabilities } = deriveContract(facts);
    expect(capabilities.filter((one) => one === 'user_question' || one === 'parent_question').length).toBeLessThanOrEqual(1);
  });

  test.each(cells.filter(({ autopilot, hasParent }) => autopilot && hasParent))(
    'lets an autopilot child ask its parent only: %j',
    (facts) => {
      const offered = facts.sessionKind === 'task' && facts.runtime !== 'passthrough';
      expect(deriveContract(facts).capabilities.includes('parent_question')).toBe(offered);
      expect(deriveContract(facts).capabilities).not.toContain('user_question');
    },
  );

  test.each(cells.filter(({ autopilot, hasParent }) => autopilot && !hasParent))(
    'gives an autopilot root no question tool: %j',
    (facts) => {
      expect(deriveContract(facts).capabilities).not.toContain('parent_question');
      expect(deriveContract(facts).capabilities).not.toContain('user_question');
    },
  );

  test.each(cells.filter(({ autopilot }) => !autopilot))('lets a normal task ask its operator: %j', (facts) => {
    const offered = (facts.sessionKind === 'task' || facts.sessionKind === 'config') && facts.runtime !== 'passthrough';
    expect(deriveContract(facts).capabilities.includes('user_question')).toBe(offered);
  });

  test.each(
    cells.filter(({ sessionKind, runtime }) => sessionKind === 'quick_chat' || sessionKind === 'utility' || runtime === 'passthrough'),
  )('offers nothing of ours: %j', (facts) => {
    expect(deriveContract(facts)).toEqual({ promptProfile: 'plain', capabilities: [] });
  });

  test('offers the task folder only to the runtime that has it', () => {
    const facts = { autopilot: false, hasParent: false, sessionKind: 'task' } as const;
    expect(deriveContract({ ...facts, runtime: 'loop' }).capabilities).toContain('workspace');
    for (const runtime of ['acp', 'external'] as const)
      expect(deriveContract({ ...facts, runtime }).capabilities).not.toContain('workspace');
  });

  test('takes both question tools and the completion signal from subagents [D9]', () => {
    const child = deriveContract({ autopilot: true, hasParent: true, sessionKind: 'task', runtime: 'loop' });
    expect(withoutTurnEnding(child).capabilities).toEqual(['task_tools', 'workspace']);
  });
});
