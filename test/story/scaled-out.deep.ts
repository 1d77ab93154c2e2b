/** The story on a server and two workers, over Redis and a Postgres that is not ours: the processes of a deployment share the work. */
import { connect } from 'node:net';
import { afterAll, afterEach, beforeAll, expect, jest, test } from '@jest/globals';
import type { ApiClient } from '@echelon/api-client';
import type { Task } from '@echelon/contracts';
import { type Program, startTestRedis, type TestRedis, waitFor } from '@echelon/testkit';
import { describeWithRedis } from '@echelon/testkit/jest';
import { type ExternalPostgres, openExternalPostgres } from '../support/external-postgres.js';
import { findViolations } from '../support/invariants.js';
import { expectWholeStory } from './story-facts.js';
import { STEPS, storyScript } from './story-script.js';
import { MODELS, StoryWorld } from './story-world.js';

jest.setTimeout(480_000);

describeWithRedis('a deployment of a server and two workers on Redis', () => {
  let redis: TestRedis;
  let postgres: ExternalPostgres;
  let world: StoryWorld;
  let api: ApiClient;
  let stories = 0;

  beforeAll(async () => {
    [redis, postgres] = await Promise.all([startTestRedis(), openExternalPostgres()]);
    process.stderr.write(`scaled out on ${postgres.name}\n`);
  });
  afterAll(() => Promise.all([redis.stop(), postgres.stop()]));
  afterEach(() => world.close());

  /** A server without workers, on an empty database; the child's model falls silent when it is to write, the first time. */
  async function open(): Promise<void> {
    let silent = false;
    const write: typeof STEPS.write = (request) => {
      if (silent) return STEPS.write(request);
      silent = true;
      return { ...STEPS.write(request), faults: [{ kind: 'silence', afterChunks: 0 }] };
    };
    const settings = { REDIS_URL: redis.url, ECHELON_QUEUE_NAMESPACE: `story-${++stories}` };
    world = await StoryWorld.open(storyScript({ write }), { storage: await postgres.createDatabase(), settings });
    const server = world.start('apps/server/src/main.ts');
    const { url } = JSON.parse(await server.line(/"server\.started"/)) as { readonly url: string };
    api = world.connect(url);
  }

  async function startWorkers(): Promise<readonly Program[]> {
    const workers = [1, 2].map(() => world.start('apps/worker/src/main.ts'));
    await Promise.all(workers.map((worker) => worker.line(/"worker\.started"/)));
    return workers;
  }

  /** The worker that runs the child's second turn, which waits for its model. */
  async function untilChildIsSilent(workers: readonly Program[]): Promise<{ readonly holder: Program; readonly turnId: string }> {
    const running = await waitFor(
      'the child is to write',
      () =>
        world.one<{ pid: number; turn_id: string }>(
          `SELECT w.pid, t.id AS turn_id FROM turn t JOIN session s ON s.id = t.session_id JOIN worker w ON w.presence = s.lease_presence
           JOIN model_request r ON r.turn_id = t.id AND r.state = 'prepared' WHERE t.number = 2 AND r.model = $1`,
          [MODELS.child],
        ),
      60,
    );
    await waitFor('its request is on its way', () => world.requestsOf('child').length === 2);
    const holder = workers.find(({ pid }) => pid === running.pid);
    if (!holder) throw new Error('nobody runs the child');
    return { holder, turnId: running.turn_id };
  }

  async function playUntilSilent(): Promise<{
    readonly root: Task;
    readonly workers: readonly Program[];
    readonly holder: Program;
    readonly turnId: string;
  }> {
    await open();
    const workers = await startWorkers();
    const root = await world.begin(api);
    return { root, workers, ...(await untilChildIsSilent(workers)) };
  }

  function readRequests(turnId: string): Promise<readonly object[]> {
    return world.rows('SELECT round, state FROM model_request WHERE turn_id = $1 ORDER BY created_at, id LIMIT 2', [turnId]);
  }

  /** Redis as it is after a restart without anything on disk. */
  function flushRedis(): Promise<void> {
    return new Promise((resolve, reject) => {
      const client = connect(Number(new URL(redis.url).port), '127.0.0.1', () => client.write('FLUSHALL\r\n'));
      client.once('error', reject).once('data', () => client.end(() => resolve()));
    });
  }

  test('a worker that is killed in the middle of a turn leaves it to the other [K12, K17]', async () => {
    const { root, holder, turnId } = await playUntilSilent();
    expect(await holder.kill('SIGKILL')).toEqual({ code: null, signal: 'SIGKILL' });
    await world.untilEnded(root.id);
    await expectWholeStory(world, root);
    expect(await readRequests(turnId)).toEqual([
      { round: 1, state: 'abandoned' },
      { round: 1, state: 'sealed' },
    ]);
  });

  test('a worker that is told to stop hands its turn over to the other, and ends in order [K23]', async () => {
    const { root, holder, turnId } = await playUntilSilent();
    expect(await holder.kill('SIGTERM')).toEqual({ code: 0, signal: null });
    await world.untilEnded(root.id);
    await expectWholeStory(world, root);
    expect(await readRequests(turnId)).toEqual([
      { round: 1, state: 'abandoned' },
      { round: 1, state: 'sealed' },
    ]);
    expect(await world.one('SELECT involuntary_resumes FROM turn WHERE id = $1', [turnId])).toEqual({ involuntary_resumes: 0 });
  });

  test('a stop that the server is told ends the turn in the worker that runs it [K18]', async () => {
    const { root, workers, turnId } = await playUntilSilent();
    await api.turns.stop(turnId);
    const finished = await waitFor('the turn has stopped', () =>
      world.one(`SELECT outcome, parked_for FROM turn WHERE id = $1 AND status = 'finished'`, [turnId]),
    );
    expect(finished).toEqual({ outcome: 'stopped', parked_for: null });
    expect(await world.requestsOf('child').at(-1)?.ended).toBe('disconnected');
    expect(() => world.readFile(root)).toThrow();
    expect(await findViolations(world.database)).toEqual({});
    expect(workers.map(({ output }) => output()).filter((log) => log.includes('turn.broken'))).toEqual([]);
  });

  test('a queue that lost everything, before the first turn and in the middle of one, loses nothing [K1, K10]', async () => {
    await open();
    const root = await world.begin(api);
    await waitFor('the queue has the wake-up', async () => (await world.rows('SELECT 1 FROM outbox')).length === 0);
    await flushRedis();
    const workers = await startWorkers();
    expect(await world.one('SELECT 1 FROM turn')).toBeNull();
    await world.rows(`UPDATE session SET announced_at = announced_at - interval '1 minute'`);
    const { holder } = await untilChildIsSilent(workers);
    await flushRedis();
    await holder.kill('SIGKILL');
    await world.untilEnded(root.id);
    await expectWholeStory(world, root);
  });
});
