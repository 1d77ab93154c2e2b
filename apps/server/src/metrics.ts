import { Counter, Gauge, Histogram, Registry } from 'prom-client';

/** Seconds; waits and recoveries range from milliseconds to minutes, questions to days. */
const SHORT = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60];
const LONG = [1, 5, 15, 60, 300, 900, 3_600, 14_400, 86_400];

/** The product's instruments (architecture.md §8). Whoever sees a fact observes it; the registry answers `/metrics`. */
export interface Metrics {
  readonly registry: Registry;
  readonly turns: Counter<'outcome'>;
  readonly queueWait: Histogram;
  readonly questionsOpen: Gauge;
  readonly questionAnswer: Histogram;
  readonly recovery: Histogram;
  /** Must stay 0: every increment is a wake-up that only the sweep found in fair weather. */
  readonly wakesLost: Counter;
  readonly requests: Counter<'method' | 'route' | 'status'>;
  readonly mcpCalls: Counter<'tool' | 'result'>;
  readonly eventStreams: Gauge;
  readonly mcpSubscriptions: Gauge;
}

/** Creates the instruments on a registry of their own; open questions are counted when somebody looks. */
export function createMetrics(countOpenQuestions: () => Promise<number> = () => Promise.resolve(0)): Metrics {
  const registry = new Registry();
  const registers = [registry];
  const counter = <Label extends string>(name: string, help: string, labelNames: readonly Label[] = []) =>
    new Counter<Label>({ name: `echelon_${name}`, help, labelNames: [...labelNames], registers });
  const gauge = (name: string, help: string) => new Gauge({ name: `echelon_${name}`, help, registers });
  const seconds = (name: string, help: string, buckets: number[]) =>
    new Histogram({ name: `echelon_${name}_seconds`, help, buckets, registers });
  return {
    registry,
    turns: counter('turns_total', 'Turns that ended, by outcome.', ['outcome']),
    queueWait: seconds('queue_wait', 'From a queue entry’s commit to its turn.', SHORT),
    questionsOpen: new Gauge({
      name: 'echelon_question_open',
      help: 'Parent questions that are pending.',
      registers,
      async collect() {
        this.set(await countOpenQuestions());
      },
    }),
    questionAnswer: seconds('question_answer', 'From a parent question to its answer.', LONG),
    recovery: seconds('recovery', 'From a worker’s death to its turn going on elsewhere.', SHORT),
    wakesLost: counter('wake_lost_total', 'Runnable sessions that only the sweep found; must stay 0.'),
    requests: counter('http_requests_total', 'REST requests, by route and status.', ['method', 'route', 'status']),
    mcpCalls: counter('mcp_calls_total', 'Tool calls over MCP, by tool and result.', ['tool', 'result']),
    eventStreams: gauge('event_streams', 'Open event streams.'),
    mcpSubscriptions: gauge('mcp_subscriptions', 'MCP clients that hear when their tool list changes.'),
  };
}
