import { restore, type Restored, Transactions } from '@echelon/orchestration';
import { createPool, Database } from '@echelon/persistence';
import type { Config } from './config.js';
import { writeOperatorToken } from './operator-token.js';
import { openStorage } from './storage.js';

/**
 * Prepares the configured database, into which a dump was restored, for its first start, and keeps the operator's fresh token on this
 * machine. `null`, and nothing but pending migrations is done, while a worker of ours works on it. Throws as `openStorage` does.
 */
export async function restoreDeployment(config: Config): Promise<Restored | null> {
  const storage = await openStorage(config);
  const database = new Database(createPool(storage.url, { max: 2 }));
  try {
    const restored = await restore(database, new Transactions(database, { committed: () => undefined }));
    if (restored?.token) writeOperatorToken(config, restored.token);
    return restored;
  } finally {
    await database.close();
    await storage.close();
  }
}
