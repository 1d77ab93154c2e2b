import type { Permissions } from '@echelon/agent-loop';

const REASON =
  'Denied: this call needs the approval of a person, and a subagent cannot wait for one. Go on without it, or say in your result what is left to approve.';

/** The same permissions where nobody is there to ask: what they would ask is denied with a reason, and nothing parks (P12). */
export function denyAsking<Context>({ check }: Pick<Permissions<Context>, 'check'>): Permissions<Context> {
  return {
    check: async (planned) => {
      const verdict = await check(planned);
      return verdict.decision === 'ask' ? { decision: 'deny', reason: REASON } : verdict;
    },
    ask: () => Promise.resolve({ decision: 'deny', reason: REASON }),
  };
}
