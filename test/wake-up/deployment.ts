/** One deployment in this process: two workers and a server without one, on one database and one queue. No sweep runs. */
import type { JobQueue, QueueWorker } from '@echelon/messaging';
import { waitFor } from '@echelon/testkit';
import type { AgentRuntime } from '../../libs/orchestration/src/agent-runtime.js';
import { MessageService } from '../../libs/orchestration/src/message.service.js';
import { QuestionService } from '../../libs/orchestration/src/question.service.js';
import { Relay } from '../../libs/orchestration/src/relay.js';
import { SessionRunner } from '../../libs/orchestration/src/session-runner.js';
import { Transactions } from '../../libs/orchestration/src/unit-of-work.js';
import { ROOT } from '../support/reached-root.js';
import type { World } from '../support/world.js';

/** Fewer in all than sessions that want to run: some wait for a slot, and some give theirs up. */
const SLOTS = 5;
const LEASE_MS = 600_000;
const ignore = () => undefined;

/** One process: what commits through its services is announced by its relay. */
export interface Process {
  readonly messages: MessageService;
  readonly questions: QuestionService;
  readonly relay: Relay;
}

export class Deployment {
  readonly processes: readonly Process[];
  readonly failures: unknown[] = [];
  readonly #workers: QueueWorker[] = [];

  constructor(
    private readonly world: World,
    private readonly openQueue: () => JobQueue,
    private readonly agents: AgentRuntime,
  ) {
    this.processes = [this.#startWorker(), this.#startWorker(), this.#startServer().process];
  }

  /** Waits until every process reaches the queue: the first of them makes its tables, which may take longer than a call waits. */
  async ready(): Promise<void> {
    for (const queue of this.#queues) await waitFor('the queue answers', async () => (await queue.health()).reachable);
  }

  /** Waits for what is being handed on; then nothing is announced any more. */
  async rest(): Promise<void> {
    await Promise.all(this.processes.map(({ relay }) => relay.idle()));
  }

  async close(): Promise<void> {
    await Promise.all(this.#workers.map((worker) => worker.close({ graceMs: 10_000 })));
    await Promise.all(this.#queues.map((queue) => queue.close()));
  }

  readonly #queues: JobQueue[] = [];

  #startServer() {
    const queue = this.openQueue();
    this.#queues.push(queue);
    const { database, limits } = this.world;
    const relay = new Relay(database, queue, ignore, (error) => void this.failures.push(error));
    const transactions = new Transactions(database, relay, limits.turns_per_tree);
    const messages = new MessageService(database, transactions, limits);
    const questions = new QuestionService(database, transactions, limits);
    return { queue, transactions, process: { messages, questions, relay } };
  }

  /** A worker also claims directly what its own process commits, where it has a free slot. */
  #startWorker(): Process {
    const { queue, transactions, process } = this.#startServer();
    const runner = new SessionRunner({
      transactions,
      runtimes: { loop: this.agents },
      claimer: { owner: 'worker', presence: null, leaseMs: LEASE_MS, rootId: ROOT.id },
      slots: SLOTS,
      onHeld: ignore,
      onError: (error) => void this.failures.push(error),
    });
    process.relay.offerDirectClaims({ rootId: ROOT.id, claim: (sessionId) => runner.offer(sessionId) });
    this.#workers.push(
      queue.work({
        concurrency: SLOTS,
        rootId: ROOT.id,
        handle: (job) => runner.run(job.sessionId),
        onError: (error) => void this.failures.push(error),
      }),
    );
    return process;
  }
}
