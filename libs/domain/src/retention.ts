/**
 * How long things are kept, in one table (operations.md, Retention): used by the sweep, by the docs and by `doctor`.
 *
 * What is not here is kept as long as its task: messages, calls and queue entries, which are the conversation and its delivery
 * records, and notifications, whose row is what says that operators were told. Audit rows are kept for ever.
 */
export const RETENTION = {
  events: { days: 7, meaning: 'durable events; a cursor that is older starts over' },
  request_texts: { days: 30, meaning: 'system prompts as they were sent, of turns that are over' },
  artifacts: { days: 30, meaning: 'full outputs of tools whose result was shortened' },
  keyed_results: { days: 2, meaning: 'results of REST calls under an Idempotency-Key; the key then starts anew' },
  plan_writes: { days: 2, meaning: 'what calls under a key wrote to a plan; the key then starts anew' },
} as const;
export type RetentionName = keyof typeof RETENTION;
/** Days by name: the defaults, overridden by configuration; 0 keeps for ever. */
export type Retention = Readonly<Record<RetentionName, number>>;

export const DEFAULT_RETENTION: Retention = Object.fromEntries(Object.entries(RETENTION).map(([name, { days }]) => [name, days])) as Record<
  RetentionName,
  number
>;
