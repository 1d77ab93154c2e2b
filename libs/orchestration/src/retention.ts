/** Retention (operations.md): defaults in one table, applied in small batches by the sweep. */
import { type Database, deleteOldArtifacts, deleteOldEvents, deleteOldKeyedResults } from '@echelon/persistence';

/** Days that things are kept. */
const KEPT_DAYS = { events: 7, artifacts: 30, keyedResults: 2 } as const;
const BATCH = 1_000;

/** Deletes one batch of everything that is too old. */
export async function applyRetention(database: Database): Promise<void> {
  await deleteOldEvents(database, KEPT_DAYS.events, BATCH);
  await deleteOldArtifacts(database, KEPT_DAYS.artifacts, BATCH);
  await deleteOldKeyedResults(database, KEPT_DAYS.keyedResults, BATCH);
}
