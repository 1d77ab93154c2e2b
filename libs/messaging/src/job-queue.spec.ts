import { describe, expect, test } from '@jest/globals';
import { startFaultProxy, startScript, waitFor } from '@echelon/testkit';
import { describeWithRedis } from '@echelon/testkit/jest';
import {
  collect,
  job,
  type QueueBackend,
  startPostgresQueues,
  startRedisQueues,
  useJobQueues,
  work,
} from '../../../test/support/job-queues.js';
import { QueueUnavailableError } from './index.js';

/** Dispatch resumes within that of the backend's return (operations.md, Outages). */
const RESUME_SECONDS = 10;

describe('job queue on Postgres', () => describeJobQueue(startPostgresQueues));
describeWithRedis('job queue on Redis', () => describeJobQueue(startRedisQueues));

function describeJobQueue(start: () => Promise<QueueBackend>): void {
  const queues = useJobQueues(start);
  const open = queues.open;

  test('a job reaches a worker of another queue object with its id, session and priority', async () => {
    const { jobs } = collect(open());
    await open().enqueue([{ id: 'o-1', sessionId: 'session-1', priority: 3 }]);
    await waitFor('the job', () => jobs.length === 1);
    expect(jobs).toEqual([{ id: 'o-1', sessionId: 'session-1', priority: 3 }]);
  });

  test('an id that is waiting or running is not added again', async () => {
    const queue = open();
    await queue.enqueue([job(1), job(1)]);
    await queue.enqueue([job(1)]);
    expect(await queue.health()).toMatchObject({ reachable: true, waiting: 1 });
    const { jobs, release } = collect(queue, { hold: true });
    await waitFor('the running job', () => jobs.length === 1);
    await queue.enqueue([job(1), job(2)]);
    release();
    await waitFor('the next job', () => jobs.length === 2);
    expect(jobs.map(({ id }) => id)).toEqual(['o-1', 'o-2']);
  });

  test('a new announcement of a session whose job is finishing is not swallowed [K2]', async () => {
    const queue = open();
    const { jobs, release } = collect(queue, { hold: true });
    await queue.enqueue([job(1, 'session-1')]);
    await waitFor('the first job', () => jobs.length === 1);
    await queue.enqueue([job(2, 'session-1')]);
    release();
    await waitFor('the second job', () => jobs.length === 2);
    expect(jobs.map(({ sessionId }) => sessionId)).toEqual(['session-1', 'session-1']);
  });

  test('a finished job leaves nothing behind that would refuse its id [K24]', async () => {
    const queue = open();
    const { jobs } = collect(queue);
    await queue.enqueue([job(1)]);
    await waitFor('the job', () => jobs.length === 1);
    await waitFor('the same id once more', async () => {
      await queue.enqueue([job(1)]);
      return jobs.length > 1;
    });
  });

  test('a thousand jobs in one call arrive once each', async () => {
    const queue = open();
    const wanted = Array.from({ length: 1_000 }, (_, index) => job(index));
    await queue.enqueue(wanted);
    const { jobs, worker } = collect(queue, { concurrency: 8 });
    await waitFor('all jobs', () => jobs.length >= wanted.length);
    await worker.close({ graceMs: 20_000 });
    expect(jobs.map(({ id }) => id).sort()).toEqual(wanted.map(({ id }) => id).sort());
  });

  test('as many handlers run at once as the concurrency says, and a worker without a free slot counts as alive', async () => {
    const queue = open();
    await queue.enqueue([1, 2, 3, 4].map((number) => job(number)));
    const { jobs, release, worker } = collect(queue, { hold: true, concurrency: 3 });
    await waitFor('three handlers', () => worker.running() === 3);
    expect(await queue.health()).toMatchObject({ waiting: 1 });
    expect(jobs).toHaveLength(3);
    const now = Date.now();
    expect(worker.lastFetchedAt()).toBeGreaterThanOrEqual(now);
    release();
    await waitFor('the fourth job', () => jobs.length === 4);
  });

  test('priority 0 comes first, then smaller numbers before larger ones [K24]', async () => {
    const queue = open();
    await queue.enqueue([2, 9, 0, 1].map((priority) => ({ ...job(priority), priority })));
    const { jobs } = collect(queue);
    await waitFor('all jobs', () => jobs.length === 4);
    expect(jobs.map(({ priority }) => priority)).toEqual([0, 1, 2, 9]);
  });

  test('a job whose handler rejects comes again and the error is reported [K24]', async () => {
    const queue = open();
    const errors: string[] = [];
    let calls = 0;
    work(queue, {
      handle: () => {
        calls += 1;
        return calls === 1 ? Promise.reject(new Error('first call fails')) : Promise.resolve();
      },
      onError: ({ message }) => errors.push(message),
    });
    await queue.enqueue([job(1)]);
    await waitFor('the second call', () => calls === 2);
    expect(errors).toEqual(['first call fails']);
  });

  test('a paused worker fetches nothing and lets its handlers end', async () => {
    const queue = open();
    const { jobs, release, worker } = collect(queue, { hold: true });
    await queue.enqueue([job(1)]);
    await waitFor('the running job', () => jobs.length === 1);
    await worker.pause();
    await queue.enqueue([job(2)]);
    release();
    await waitFor('the end of the handler', () => worker.running() === 0);
    const other = collect(open());
    await waitFor('the second job elsewhere', () => other.jobs.length === 1);
    expect(jobs).toHaveLength(1);
  });

  test('closing waits for running handlers within the grace and keeps their signal quiet', async () => {
    const queue = open();
    const { jobs, signals, release, worker } = collect(queue, { hold: true });
    await queue.enqueue([job(1)]);
    await waitFor('the running job', () => jobs.length === 1);
    const closed = worker.close({ graceMs: 20_000 });
    release();
    await closed;
    expect(worker.running()).toBe(0);
    expect(signals[0]?.aborted).toBe(false);
    expect(await queue.health()).toMatchObject({ waiting: 0 });
  });

  test('closing aborts the signals of handlers that outlast the grace', async () => {
    const queue = open();
    let aborted = false;
    const worker = work(queue, {
      handle: (_job, signal) => new Promise((resolve) => signal.addEventListener('abort', () => resolve(void (aborted = true)))),
    });
    await queue.enqueue([job(1)]);
    await waitFor('the running job', () => worker.running() === 1);
    await worker.close({ graceMs: 10 });
    expect(aborted).toBe(true);
    expect(worker.running()).toBe(0);
  });

  test('the job of a killed process comes to another worker', async () => {
    const [factory, address] = queues.backend().factory;
    const program = startScript(`
      import { ${factory} } from '@echelon/messaging';
      const queue = ${factory}({ ${address}: '${queues.backend().url}', namespace: '${queues.namespace()}', lockMs: 1000 });
      queue.work({ concurrency: 1, onError: console.error, handle: async ({ id }) => { console.log('took', id); await new Promise(() => {}); } });
    `);
    const queue = open(queues.backend().url, 1_000);
    await queue.enqueue([job(1)]);
    await program.line(/^took o-1$/);
    await program.kill('SIGKILL');
    const { jobs } = collect(queue);
    await waitFor('the job again', () => jobs.length === 1);
    expect(jobs[0]?.id).toBe('o-1');
  });

  test('while the backend is cut off producers are told so and nothing is buffered [K14]', async () => {
    const proxy = await startFaultProxy({ port: Number(new URL(queues.backend().url).port) });
    const queue = open(proxy.through(queues.backend().url));
    await queue.enqueue([job(1)]);
    proxy.cut();
    await expect(queue.enqueue([job(2)])).rejects.toThrow(QueueUnavailableError);
    expect(await queue.health()).toMatchObject({ reachable: false });
    proxy.resume();
    await waitFor('an answer', async () => (await queue.health()).reachable);
    expect(await queue.health()).toMatchObject({ waiting: 1 });
    await queue.close();
    await proxy.close();
  });

  test('a producer does not hang on a backend that accepts and never answers [K14]', async () => {
    const proxy = await startFaultProxy({ port: Number(new URL(queues.backend().url).port) });
    const queue = open(proxy.through(queues.backend().url));
    await queue.enqueue([job(1)]);
    proxy.stall();
    await expect(queue.enqueue([job(2)])).rejects.toThrow(QueueUnavailableError);
    await queue.close();
    await proxy.close();
  });

  test('an idle worker shows that it fetches, outlives an outage, and fetches again within 10 s of its end [O29]', async () => {
    const proxy = await startFaultProxy({ port: Number(new URL(queues.backend().url).port) });
    const queue = open(proxy.through(queues.backend().url));
    const { jobs, errors, worker } = collect(queue);
    await waitFor('the first fetch', () => worker.lastFetchedAt());
    proxy.cut();
    await waitFor('notice of the outage', () => errors.length > 0);
    const before = worker.lastFetchedAt() ?? 0;
    await waitFor('a silence longer than the rebuild bound', () => Date.now() - before > 3_000);
    proxy.resume();
    await waitFor('a fetch', () => (worker.lastFetchedAt() ?? 0) > before, RESUME_SECONDS);
    await open().enqueue([job(1)]);
    await waitFor('the job', () => jobs.length === 1);
    await queue.close();
    await proxy.close();
  });

  test('a worker that is started during an outage begins when the backend comes', async () => {
    const proxy = await startFaultProxy({ port: Number(new URL(queues.backend().url).port) });
    proxy.cut();
    const queue = open(proxy.through(queues.backend().url));
    const { jobs, errors } = collect(queue);
    await waitFor('notice of the outage', () => errors.length > 0);
    await open().enqueue([job(1)]);
    proxy.resume();
    await waitFor('the job', () => jobs.length === 1);
    await queue.close();
    await proxy.close();
  });

  test('what is no job and no concurrency is refused, and a closed queue takes nothing', async () => {
    const queue = open();
    await expect(queue.enqueue([{ ...job(1), id: 'o:1' }])).rejects.toThrow(RangeError);
    await expect(queue.enqueue([{ ...job(1), priority: -1 }])).rejects.toThrow(RangeError);
    await expect(queue.enqueue([{ ...job(1), rootId: 'no root' }])).rejects.toThrow(RangeError);
    expect(() => work(queue, { concurrency: 0 })).toThrow(RangeError);
    await queue.close();
    await expect(queue.enqueue([job(1)])).rejects.toThrow('the queue is closed');
    expect(() => work(queue)).toThrow('the queue is closed');
  });
}
