import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { ToolBench } from '../../../test/support/tool-bench.js';
import { accepted, type World } from '../../../test/support/world.js';

let bench: ToolBench;
let world: World;

beforeAll(async () => {
  bench = await ToolBench.open();
  world = bench.world;
});
afterAll(() => bench.close());

describe('get_message_delivery_kandev', () => {
  async function send() {
    const family = await bench.family({ autopilot: false });
    const message = { prompt: 'A secret.', delivery_mode: 'queued' } as const;
    const { delivery_id } = accepted(await world.services.messages.send(world.agent(family.parent), family.child.id, message));
    const read = (task: { id: string; sessionId: string }) =>
      bench.succeed(world.agent(task), 'get_message_delivery_kandev', { delivery_id }, { surface: 'mcp' });
    return { ...family, delivery_id, read };
  }

  test('tells sender and receiver of every state: queued, delivered with its turn, cancelled, failed [M11]', async () => {
    const delivered = await send();
    for (const reader of [delivered.parent, delivered.child])
      expect(await delivered.read(reader)).toMatchObject({ state: 'queued', text: expect.stringContaining('A secret.'), turn_id: null });
    const { turn } = await world.claim(delivered.child.sessionId);
    expect(await delivered.read(delivered.parent)).toMatchObject({ state: 'delivered', turn_id: turn.id });

    const cancelled = await send();
    await bench.sessions.removeEntry(world.operator, cancelled.child.sessionId, cancelled.delivery_id);
    expect(await cancelled.read(cancelled.parent)).toMatchObject({ state: 'cancelled' });

    const failed = await send();
    await world.move(failed.child, 'cancel');
    expect(await failed.read(failed.parent)).toMatchObject({ state: 'failed' });
  });

  test('hides the text from everybody else, and from another workspace that it exists [M11]', async () => {
    const { read, delivery_id } = await send();
    const stranger = await world.task();
    expect(await read(stranger)).toMatchObject({ state: 'queued', text: '' });
    const foreign = { ...world.agent(stranger), workspaceId: crypto.randomUUID() };
    const refused = await bench.callMcp(foreign, 'get_message_delivery_kandev', { delivery_id });
    expect(refused).toMatchObject({ isError: true, structured: { error: 'NOT_FOUND' } });
  });
});
