import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { World } from '../../../test/support/world.js';
import { TurnArtifacts } from './turn-artifacts.js';

let world: World;

beforeAll(async () => {
  world = await World.open();
});
afterAll(() => world.close());

test('the full text of a shortened result is a row of its call, once, under the name that the result mentions [O9]', async () => {
  const { sessionId } = await world.task();
  const claimed = await world.openTurn(sessionId);
  const artifacts = new TurnArtifacts(world.database, claimed);
  const full = { callId: 'call-1', tool: 'run_command', text: 'line\n'.repeat(100_000) };
  const name = await artifacts.store(full);
  expect(await artifacts.store(full)).toBe(name);
  const kept = await world.rows('SELECT id, turn_id, call_id, content FROM artifact WHERE session_id = $1', [sessionId]);
  expect(kept).toEqual([{ id: name.replace('artifact ', ''), turn_id: claimed.turn.id, call_id: 'call-1', content: full.text }]);
});
