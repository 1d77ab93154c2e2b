import { describe, expect, test } from '@jest/globals';
import { CreateProfile, EditQueueEntry, IssueToken, UpdateProfile, UpdateWorkflow, WholeNumber, WriteTaskPlan } from '@echelon/contracts';

const MOST = 2_147_483_647;
const profile = { workspace_id: '01980000-0000-7000-8000-000000000000', name: 'A', provider: 'scripted', model: 'm' };

describe('a number that a client sends and a column of the database takes', () => {
  test.each([
    ['profile: answer', CreateProfile, (n: number) => ({ ...profile, max_output_tokens: n })],
    ['profile: window', CreateProfile, (n: number) => ({ ...profile, context_window: n })],
    ['profile: wait for a parent', CreateProfile, (n: number) => ({ ...profile, parent_question_timeout_seconds: n })],
    ['profile: wait for an operator', CreateProfile, (n: number) => ({ ...profile, user_question_timeout_seconds: n })],
    ['changed profile: answer', UpdateProfile, (n: number) => ({ max_output_tokens: n })],
    ['changed profile: window', UpdateProfile, (n: number) => ({ context_window: n })],
    ['changed profile: wait for a parent', UpdateProfile, (n: number) => ({ parent_question_timeout_seconds: n })],
    ['changed profile: wait for an operator', UpdateProfile, (n: number) => ({ user_question_timeout_seconds: n })],
    ['changed profile: budget', UpdateProfile, (n: number) => ({ budgets: { max_tokens: n } })],
    ['token', IssueToken, (n: number) => ({ kind: 'operator', label: 'A', expires_in_seconds: n })],
    ['workflow', UpdateWorkflow, (n: number) => ({ expected_revision: n })],
    ['plan', WriteTaskPlan, (n: number) => ({ content: 'A', expected_revision: n })],
    ['queue entry', EditQueueEntry, (n: number) => ({ text: 'A', revision: n })],
    ['place in a list', WholeNumber, (n: number) => n],
  ] as const)('%s: is taken up to the largest that the column holds', (_what, schema, input) => {
    expect(schema.safeParse(input(MOST)).success).toBe(true);
    expect(schema.safeParse(input(MOST + 1)).success).toBe(false);
  });
});
