import { canonicalJson, isRefusal } from '@echelon/domain';
import type { Outcome, Services } from '@echelon/orchestration';
import type { Caller } from '../http/caller.js';
import { ProblemError } from '../http/problem.js';

export interface KeyedRequest {
  readonly caller: Caller;
  readonly key: string | null;
  /** Which intention the key belongs to, such as `create_profile`. */
  readonly intention: string;
  readonly body: unknown;
}

/** Runs a creating intention once per token and key, and returns its first result again (K16). A refusal is not kept. */
export async function runOnce<T extends object>(
  idempotency: Services['idempotency'],
  { caller, key, intention, body }: KeyedRequest,
  work: () => Promise<Outcome<T>>,
): Promise<Outcome<T>> {
  if (key === null) return work();
  const keyed = await idempotency.run(caller.tokenId, key, canonicalJson({ intention, body }), async () => ({
    status: 201,
    response: JSON.stringify(orThrow(await work())),
  }));
  return isRefusal(keyed) ? keyed : (JSON.parse(keyed.response) as T);
}

function orThrow<T extends object>(outcome: Outcome<T>): T {
  if (isRefusal(outcome)) throw new ProblemError(outcome.code, { details: outcome.details });
  return outcome;
}
