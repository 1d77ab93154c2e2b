import { expect, test } from '@jest/globals';
import { createTestDatabase } from '@echelon/testkit';
import { openStorage } from './storage.js';

test('an address whose options would replace ours is refused: nothing may work as the owner unnoticed', async () => {
  const storage = await createTestDatabase({ empty: true });
  const databaseUrl = `${storage.url}?options=-c%20statement_timeout%3D5s`;
  await expect(openStorage({ databaseUrl, migrationDatabaseUrl: null, dataDir: '/nowhere' })).rejects.toThrow(
    /^DATABASE_URL may not carry "options"/,
  );
  await storage.drop();
});
