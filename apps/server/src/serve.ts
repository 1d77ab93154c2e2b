/** Puts the HTTP server in front of a platform, with what it stands on as its readiness. */
import type { Platform } from '@echelon/platform';
import type { Health, HealthCheck } from './health.js';
import { createMetrics } from './metrics.js';
import { observeEvents } from './observe-events.js';
import { createServer, type Server } from './server.js';

/** Creates the server of a platform; nothing listens yet. */
export async function createPlatformServer(platform: Platform): Promise<Server> {
  const { services, catalogue, log, config, facts, bus } = platform;
  const metrics = createMetrics(() => facts.countOpenQuestions());
  await observeEvents(bus, metrics);
  return createServer({
    services,
    tools: catalogue,
    logger: log,
    metrics,
    health: () => readHealth(platform),
    config: { allowedHosts: config.allowedHosts, requestsPerMinute: config.limits.requests_per_token_minute },
  });
}

/** The database must answer, and a worker in this process may claim and must have fetched recently. A queue that is down delays work, and loses none. */
async function readHealth({ facts, queue, worker }: Platform): Promise<Health> {
  const [answers, queueHealth] = await Promise.all([facts.databaseAnswers(), queue.health()]);
  const checks = {
    database: { ok: answers },
    queue: { ok: true, ...(queueHealth.reachable ? {} : { detail: queueHealth.reason }) },
    ...(worker ? { worker: readWorker(worker, queueHealth.reachable) } : {}),
  };
  return { ready: Object.values(checks).every((check) => check.ok), checks };
}

function readWorker(worker: NonNullable<Platform['worker']>, queueReachable: boolean): HealthCheck {
  const detail = worker.obstacle();
  return detail === null ? { ok: worker.fetchedRecently() || !queueReachable } : { ok: false, detail };
}
