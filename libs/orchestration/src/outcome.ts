import { isRefusal, type Refusal } from '@echelon/domain';

/** What an intention returns: its value, or an expected refusal. Broken promises are thrown. */
export type Outcome<T extends object> = T | Refusal;

/** Carries a refusal out of a transaction that must not commit. */
export class Refused extends Error {
  constructor(readonly refusal: Refusal) {
    super(refusal.code);
    this.name = 'Refused';
  }
}

/** The value, or a rollback with the refusal: `refusalOf` turns it back into one. */
export function orRollBack<T extends object>(outcome: Outcome<T>): T {
  if (isRefusal(outcome)) throw new Refused(outcome);
  return outcome;
}

/** Runs an intention whose transaction may have been rolled back by `orRollBack`. */
export async function refusalOf<T extends object>(intention: Promise<Outcome<T>>): Promise<Outcome<T>> {
  try {
    return await intention;
  } catch (error) {
    if (error instanceof Refused) return error.refusal;
    throw error;
  }
}
