// Jest's globalSetup: one Postgres for the whole run.
import './source-loader.mjs';

export default async function setUp() {
  const { startTestServer } = await import('../libs/testkit/src/test-server.ts');
  globalThis.echelonTestServer = await startTestServer();
}
