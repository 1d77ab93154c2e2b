/** The rules that everything durable rests on; the protocol document has them in full. */
export const protocol = {
  document: 'protocol.md',
  finished: true,
  rows: [
    {
      id: 'K1',
      behaviour:
        "Rows first: A queue entry and, if nobody holds the session, its outbox row are one transaction under the session's row lock",
    },
    {
      id: 'K2',
      behaviour:
        "One id per announcement: A job's id is o- and the outbox row's id, never derived from the session: while a job is finishing, the queue would swallow its successor",
    },
    {
      id: 'K3',
      behaviour:
        'Claim: A job claims its session only if no live lease exists and it is runnable: first an unfinished turn that is not parked or whose every wait is decided, else the next admissible entry, whose turn is opened in the same transaction with the new epoch',
    },
    {
      id: 'K4',
      behaviour:
        'Fence: A fenced transaction first locks the session row with its epoch (… WHERE id AND epoch FOR NO KEY UPDATE, or the UPDATE itself)',
    },
    {
      id: 'K5',
      behaviour:
        'Settle drains: Closing a turn, deciding what follows and releasing the lease are one transaction under the session lock, the lock that an enqueuer takes',
    },
    {
      id: 'K6',
      behaviour:
        'Gate: While a question is pending only its answer is admissible; one function decides admissibility for every drain, claim and sweep',
    },
    {
      id: 'K6b',
      behaviour:
        "Asked is asked: Asking sets turn.ended_by_question_id in its transaction. Settlement and the refusal of later calls read that column, never the question's status now (a fast answer or an operator's prompt may have ended the wait before the turn closes)",
    },
    {
      id: 'K7',
      behaviour: 'One ask: The question is idempotent under its key (K16): the call may commit and die before its result is recorded',
    },
    { id: 'K8', behaviour: 'One end: Answer, supersede, stale are each one conditional update from pending' },
    { id: 'K9', behaviour: 'Nobody waits for nobody: A stale question of a live child enqueues a notice for it' },
    {
      id: 'K10',
      behaviour: 'Sweep: Void leases are freed and announced; runnable work that nobody holds and nothing announced lately is announced',
    },
    {
      id: 'K11',
      behaviour:
        'Lock order: Task rows by id → session rows by id → the rest, always FOR NO KEY UPDATE (a plain FOR UPDATE after an insert that references the row deadlocks), taken before the first insert in one statement per table, the set checked again after locking',
    },
    {
      id: 'K12',
      behaviour:
        'Presence: A worker process takes an advisory lock under a fresh sequence number on a dedicated connection (keepalive, no pooler)',
    },
    {
      id: 'K13',
      behaviour:
        'Park: A turn that waits for a person, or for anything longer than 30 s (a long Retry-After too), stops the loop with parked { for }',
    },
    {
      id: 'K14',
      behaviour:
        'Commit, then announce: After commit the process hands its outbox rows to the queue and the bus itself and deletes them in batches',
    },
    {
      id: 'K15',
      behaviour:
        'Event cursors never skip: Ids taken in transactions become visible out of order. One sequencer stamps position on committed events (batches of 5–10 ms, advisory lock)',
    },
    {
      id: 'K16',
      behaviour:
        "Idempotency by business key: Ask and create: the client's call id where _meta carries one, else a hash of session, turn, tool and canonical arguments",
    },
    {
      id: 'K17',
      behaviour:
        'Unknown is an outcome: An effectful call with intent and no result after a crash is unknown and not repeated, unless it is idempotent under its key',
    },
    {
      id: 'K18',
      behaviour:
        "Stop leaves a mark: Stop writes the turn's id and a flag under the session lock; a later claim, continuation, retry or sweep of that turn sees it",
    },
    { id: 'K19', behaviour: "One clock, one text form: Time is the database's, timestamptz(3), pools with TimeZone=UTC" },
    { id: 'K20', behaviour: "No write skew: Ask, archive, terminal, detach and reparent lock the parent's task row" },
    {
      id: 'K21',
      behaviour:
        'Processes are fenced too: The database cannot fence a running command. Each command runs in its own process group under a guard that kills it when the worker dies or loses the lease',
    },
    { id: 'K22', behaviour: 'Poison: turn.involuntary_resumes rises on a takeover without a new barrier' },
    {
      id: 'K23',
      behaviour:
        'Hand-over: On SIGTERM a worker stops claiming; each turn stops at its next barrier with handed_over, releases its lease and announces',
    },
    {
      id: 'K24',
      behaviour:
        "Jobs: A turn runs inside its job, but the job's lock, stall handling and result are never trusted (a redelivered job finds a live lease and does nothing): removeOnComplete and removeOnFail true, maxStalledCount high, several attempts with backoff, generous lock",
    },
  ],
} as const;
