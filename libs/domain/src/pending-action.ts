/** What a task waits for a person for (V1): a question outranks a permission. Derived, never stored. */
export type PendingAction = 'clarification' | 'permission' | null;

export function pendingActionOf(waits: { readonly questions: number; readonly approvals: number }): PendingAction {
  if (waits.questions > 0) return 'clarification';
  return waits.approvals > 0 ? 'permission' : null;
}
