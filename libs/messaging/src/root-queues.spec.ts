import { randomUUID } from 'node:crypto';
import { describe, expect, test } from '@jest/globals';
import { waitFor } from '@echelon/testkit';
import { describeWithRedis } from '@echelon/testkit/jest';
import { collect, job, type QueueBackend, startPostgresQueues, startRedisQueues, useJobQueues } from '../../../test/support/job-queues.js';

describe('queues of workspace roots on Postgres', () => describeRootQueues(startPostgresQueues));
describeWithRedis('queues of workspace roots on Redis', () => describeRootQueues(startRedisQueues));

function describeRootQueues(start: () => Promise<QueueBackend>): void {
  const { open } = useJobQueues(start);

  test('a job of a workspace root waits for a worker that reaches it, and is not seen by others', async () => {
    const [here, there] = [randomUUID(), randomUUID()];
    const queue = open();
    await queue.enqueue([{ ...job(1), rootId: there }, { ...job(2), rootId: here }, job(3)]);
    expect(await queue.health()).toMatchObject({ waiting: 1 });
    expect(await queue.health([here, there])).toMatchObject({ waiting: 3 });
    const near = collect(open(), { rootId: here });
    await waitFor('the jobs within reach', () => near.jobs.length === 2);
    expect(near.jobs.map(({ id }) => id).sort()).toEqual(['o-2', 'o-3']);
    expect(await queue.health([there])).toMatchObject({ waiting: 1 });
    const far = collect(open(), { rootId: there });
    await waitFor('the job of the other root', () => far.jobs.length === 1);
    expect(far.jobs.map(({ id }) => id)).toEqual(['o-1']);
    expect(near.jobs).toHaveLength(2);
  });

  test('jobs for any worker do not keep those of its root from a worker, and as many of each run at once as the concurrency says', async () => {
    const rootId = randomUUID();
    const queue = open();
    await queue.enqueue([1, 2, 3].map((number) => job(number)));
    const { jobs, release, worker } = collect(queue, { hold: true, concurrency: 2, rootId });
    await waitFor('two handlers', () => worker.running() === 2);
    await queue.enqueue([4, 5].map((number) => ({ ...job(number), rootId })));
    await waitFor('the jobs of the root', () => worker.running() === 4);
    expect(jobs.map(({ id }) => id).toSorted()).toEqual(['o-1', 'o-2', 'o-4', 'o-5']);
    expect(await queue.health([rootId])).toMatchObject({ waiting: 1 });
    release();
    await waitFor('the last job', () => jobs.length === 5);
  });
}
