import { describe, expect, test } from '@jest/globals';
import type { CatalogueTool } from '@echelon/tools';
import { z } from 'zod';
import { connectModern } from '../../../../test/support/mcp-clients.js';
import { type RunningServer, startServer } from '../../../../test/support/running-server.js';

describe('a call that waits', () => {
  /** A tool that tells when it runs and ends only when it is aborted. */
  function waitingTool(timeLimitMs?: number) {
    const [running, aborted] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    const tool: CatalogueTool = {
      name: 'wait',
      title: 'Wait',
      description: 'Waits.',
      input: z.strictObject({}),
      effect: 'read',
      concurrencySafe: true,
      idempotent: true,
      ...(timeLimitMs === undefined ? {} : { timeLimitMs }),
      execute: (_input, { signal }) => {
        running.resolve();
        signal.addEventListener('abort', () => aborted.resolve());
        return aborted.promise.then(() => ({ text: 'aborted', isError: true }));
      },
    };
    return { running: running.promise, aborted: aborted.promise, tools: { toolsFor: () => [tool], find: () => tool } };
  }

  async function withTool(waiting: ReturnType<typeof waitingTool>, use: (own: RunningServer) => Promise<void>): Promise<void> {
    const own = await startServer({}, waiting.tools);
    try {
      await use(own);
    } finally {
      await own.stop();
    }
  }

  test('is aborted when its caller goes away, in either era', async () => {
    for (const mode of ['auto', 'legacy'] as const) {
      const waiting = waitingTool();
      await withTool(waiting, async (own) => {
        const client = await connectModern(own.url, own.token, mode);
        const call = client.call('wait').catch((error: unknown) => error);
        await waiting.running;
        await client.close();
        await waiting.aborted;
        expect(await call).toBeInstanceOf(Error);
      });
    }
  });

  test('is an error result past its time limit, and says that it may still take effect', async () => {
    const waiting = waitingTool(20);
    await withTool(waiting, async (own) => {
      const client = await connectModern(own.url, own.token, 'auto');
      expect(await client.call('wait')).toMatchObject({ isError: true, text: expect.stringMatching('look before you repeat it') });
      await waiting.aborted;
      await client.close();
    });
  });

  test('ends when the server closes', async () => {
    const waiting = waitingTool();
    await withTool(waiting, async (own) => {
      const client = await connectModern(own.url, own.token, 'legacy');
      const call = client.call('wait');
      await waiting.running;
      await own.closeServer();
      expect(await call).toMatchObject({ text: 'aborted' });
    });
  });
});
