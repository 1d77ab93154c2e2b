export default async function tearDown() {
  await globalThis.echelonTestServer.stop();
}
