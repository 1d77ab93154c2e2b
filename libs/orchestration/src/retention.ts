/** Retention (operations.md): applied in small batches by the sweep. */
import { type Retention, RETENTION, type RetentionName } from '@echelon/domain';
import { type Database, deleteOld } from '@echelon/persistence';

const BATCH = 500;
/** Batches of one kind that one pass deletes; the next pass goes on. */
const MOST_BATCHES = 20;

/**
 * Deletes what is too old, each batch in a transaction of its own. A kind that fails keeps no other from being deleted: its error is
 * told to `onError`.
 */
export async function applyRetention(
  database: Database,
  retention: Retention,
  onError: (error: unknown, what: RetentionName) => void,
): Promise<void> {
  for (const what of Object.keys(RETENTION) as RetentionName[]) {
    if (retention[what] > 0) await deleteAll(database, what, retention[what]).catch((error: unknown) => onError(error, what));
  }
}

async function deleteAll(database: Database, what: RetentionName, days: number): Promise<void> {
  for (let batch = 0; batch < MOST_BATCHES; batch++) {
    if ((await deleteOld(database, what, { days, limit: BATCH })) < BATCH) return;
  }
}
