import { PassThrough } from 'node:stream';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { main } from '@echelon/cli';
import { type RunningServer, startServer, type TestAgent } from '../../../test/support/running-server.js';
import { type ServerTurns, turnsOf } from '../../../test/support/server-turns.js';

let server: RunningServer;
let turns: ServerTurns;
let agent: TestAgent;

beforeAll(async () => {
  server = await startServer();
  turns = await turnsOf(server);
  agent = await server.agent();
});
afterAll(async () => {
  await turns.close();
  await server.stop();
});

async function show(): Promise<string> {
  const [out, err] = [new PassThrough(), new PassThrough()];
  await main(['node', 'echelon', '--url', server.url, '--token', server.token, 'task', 'show', agent.taskId], {
    out,
    err,
    interactive: false,
  });
  return /^last_turn +(.*)$/m.exec(String(out.read()))?.[1] ?? '';
}

test('a task shows how its newest turn went, and why one did not complete', async () => {
  expect(await show()).toBe('–');
  const end = await turns.open(agent.sessionId);
  expect(await show()).toBe('1: running');
  await end();
  expect(await show()).toBe('1: completed');
  await server.asOwner(
    `UPDATE turn SET outcome = 'error', outcome_detail = 'the agent has not started' WHERE session_id = '${agent.sessionId}'`,
  );
  expect(await show()).toBe('1: error (the agent has not started)');
});
