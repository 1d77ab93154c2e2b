import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { newId } from '@echelon/persistence';
import { accepted, World } from '../../../test/support/world.js';
import { IdempotencyService, type KeyedResult } from './idempotency.service.js';

let world: World;
let idempotency: IdempotencyService;

beforeAll(async () => {
  world = await World.open();
  idempotency = new IdempotencyService(world.database);
});
afterAll(() => world.close());

const TOKEN = newId();

function work(result: KeyedResult = { status: 201, response: '{"id":1}' }) {
  let calls = 0;
  const run = () => Promise.resolve({ ...result, response: `${result.response}${++calls}` });
  return { run, calls: () => calls };
}

describe('a call under a key', () => {
  test('runs once; the same key and body give the same bytes again [K16]', async () => {
    const job = work();
    const first = accepted(await idempotency.run(TOKEN, 'a', 'body', job.run));
    const again = accepted(await idempotency.run(TOKEN, 'a', 'body', job.run));
    expect(first).toEqual({ status: 201, response: '{"id":1}1', replayed: false });
    expect(again).toEqual({ ...first, replayed: true });
    expect(job.calls()).toBe(1);
  });

  test('with another body is a mismatch; another token’s key is another key [K16]', async () => {
    const job = work();
    accepted(await idempotency.run(TOKEN, 'b', 'body', job.run));
    expect(await idempotency.run(TOKEN, 'b', 'another body', job.run)).toMatchObject({ code: 'IDEMPOTENCY_MISMATCH' });
    accepted(await idempotency.run(newId(), 'b', 'another body', job.run));
    expect(job.calls()).toBe(2);
  });

  test('that was refused for good is refused with the same bytes again', async () => {
    const job = work({ status: 404, response: 'no' });
    accepted(await idempotency.run(TOKEN, 'c', 'body', job.run));
    expect(accepted(await idempotency.run(TOKEN, 'c', 'body', job.run))).toEqual({ status: 404, response: 'no1', replayed: true });
  });

  test.each([429, 500, 503])('that ended with %i may be tried again', async (status) => {
    const [busy, free] = [work({ status, response: 'later' }), work()];
    accepted(await idempotency.run(TOKEN, `d${status}`, 'body', busy.run));
    expect(accepted(await idempotency.run(TOKEN, `d${status}`, 'body', free.run))).toMatchObject({ status: 201, replayed: false });
  });

  test('that threw may be tried again', async () => {
    const broken = () => Promise.reject(new Error('broken'));
    await expect(idempotency.run(TOKEN, 'e', 'body', broken)).rejects.toThrow('broken');
    expect(accepted(await idempotency.run(TOKEN, 'e', 'body', work().run)).replayed).toBe(false);
  });

  test('while the first one runs is refused', async () => {
    const first = await startedCall('f');
    const others = await Promise.all(Array.from({ length: 20 }, () => idempotency.run(TOKEN, 'f', 'body', work().run)));
    expect(others).toEqual(others.map(() => expect.objectContaining({ code: 'CONFLICT' })));
    first.finish({ status: 201, response: 'done' });
    expect(accepted(await first.outcome)).toEqual({ status: 201, response: 'done', replayed: false });
  });

  test('made 50 times at once runs once', async () => {
    const job = work();
    await Promise.all(Array.from({ length: 50 }, () => idempotency.run(TOKEN, 'g', 'body', job.run)));
    expect(job.calls()).toBe(1);
  });

  test('whose process died is taken over after a minute, by the same body only', async () => {
    await startedCall('h');
    await world.rows(`UPDATE idempotency_record SET created_at = now() - interval '61 seconds' WHERE status IS NULL`);
    expect(await idempotency.run(TOKEN, 'h', 'another', work().run)).toMatchObject({ code: 'IDEMPOTENCY_MISMATCH' });
    expect(accepted(await idempotency.run(TOKEN, 'h', 'body', work().run)).replayed).toBe(false);
  });
});

/** A call whose work has begun and ends when the test says so. */
async function startedCall(key: string) {
  const begun = Promise.withResolvers<undefined>();
  const end = Promise.withResolvers<KeyedResult>();
  const outcome = idempotency.run(TOKEN, key, 'body', () => {
    begun.resolve(undefined);
    return end.promise;
  });
  await begun.promise;
  return { outcome, finish: end.resolve };
}
