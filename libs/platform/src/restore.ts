import { restore, type Restored, Transactions } from '@echelon/orchestration';
import { createPool, Database } from '@echelon/persistence';
import type { Config } from './config.js';
import { writeOperatorToken } from './operator-token.js';
import { openStorage } from './storage.js';

/**
 * Prepares the configured database, into which a dump was restored, for its first start, and keeps the operator's fresh token on this
 * machine. Throws as `openStorage` does, before anything is changed, while anybody of ours works on it; and before a commit once
 * somebody may have started meanwhile. It can be repeated.
 */
export async function restoreDeployment(config: Config): Promise<Restored> {
  const storage = await openStorage(config, { alone: true });
  const database = new Database(createPool(storage.url, { max: 2 }));
  try {
    const restored = await restore(database, new Transactions(database, { committed: () => undefined }), () => storage.assertAlone());
    if (restored.token) writeOperatorToken(config, restored.token);
    return restored;
  } finally {
    await database.close();
    await storage.close();
  }
}
