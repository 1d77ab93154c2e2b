/** What autopilot, asking the parent and answering a question must do; M: messages between tasks, I: invariants. */
export const autopilotContract = {
  document: 'autopilot-contract.md',
  finished: true,
  rows: [
    {
      id: 'F1',
      behaviour:
        'create without autopilot (REST, MCP): stored and returned as false; the field is always present in every task DTO, list, event and MCP result',
    },
    { id: 'F2', behaviour: 'create with autopilot: true: stored; REST and create_task_kandev run the same validation and the same code' },
    { id: 'F3', behaviour: 'an autopilot parent creates a child without the flag: child is false: never inherited' },
    { id: 'F4', behaviour: "any parent creates a child with the flag: allowed; the parent's own mode does not matter" },
    {
      id: 'F5',
      behaviour:
        'PATCH (REST) or update_task_kandev with autopilot: refused with a typed error that names the field, nothing of the call is applied',
    },
    {
      id: 'F6',
      behaviour:
        'an UPDATE of the column from SQL, Prisma or a bug: refused by the database itself (trigger): immutability does not depend on the application',
    },
    { id: 'F7', behaviour: 'metadata or prompt text that says "autopilot": has no effect: only the column is read' },
    {
      id: 'F8',
      behaviour:
        'retry of a create with the same idempotency key: same body: the first task with deduplicated: true; any difference, the flag included: IDEMPOTENCY_MISMATCH',
    },
    {
      id: 'F9',
      behaviour:
        'autopilot: true with an agent profile whose runtime cannot receive our MCP tools: creation refused (PROFILE_INCOMPATIBLE), never silently downgraded; no row remains',
    },
    { id: 'F10', behaviour: 'autopilot: true for a session kind other than task: refused' },
    {
      id: 'F11',
      behaviour:
        'a profile is later edited so that it becomes incompatible: the edit is refused while autopilot tasks that are not terminal use it',
    },
    { id: 'F12', behaviour: 'existing rows after a migration: read false' },
    { id: 'F13', behaviour: 'opening a config, quick_chat or utility session on an autopilot task: refused' },
    {
      id: 'F14',
      behaviour:
        'spawn, profile change or launch of an autopilot task with a runtime that cannot inject MCP: PROFILE_INCOMPATIBLE, nothing starts',
    },
    {
      id: 'D1',
      behaviour: 'every cell above, with every runtime: exactly that tool list; never both question tools; all other task tools unchanged',
    },
    {
      id: 'D2',
      behaviour:
        'the prompt of each cell: an autonomy section exactly for autopilot; one question section exactly when the tool exists; no mention of a tool that is not offered',
    },
    {
      id: 'D3',
      behaviour:
        'an agent calls a tool outside its set (stale client, guessed name): refused as unknown tool, except the two question tools: known names, answered with the typed refusal of A5; the backend action re-checks flag, parent and session by itself and would refuse too',
    },
    {
      id: 'D4',
      behaviour:
        'agentctl (the process that runs an external agent): exposes what it was given and nothing else; it infers nothing from prompt or parentage',
    },
    {
      id: 'D5',
      behaviour:
        'child detached while live: the tool list is replaced atomically at the next turn boundary; subscribers get one tools/list_changed, none when nothing changed; clients without a subscription meet the D3 refusal',
    },
    { id: 'D6', behaviour: 'root attached under a parent: gains the parent question tool the same way' },
    { id: 'D7', behaviour: 'user text that contains our hidden-section markers: cannot fake or close the hidden section' },
    {
      id: 'D8',
      behaviour:
        'prompt of an autopilot session, content: proceed on safe reversible assumptions; ask only when a wrong assumption would materially change the result; never ask the operator; the question tool is the last action of the turn; without a parent: decide, and disclose material assumptions in the result',
    },
    { id: 'D9', behaviour: 'subagents and speculation of any session: neither question tool nor step_complete_kandev' },
    {
      id: 'A1',
      behaviour:
        "an autopilot child asks: one pending question; one attributed entry in the parent's queue with child task and session, question id, questions, options, reason, and the exact reply call; the call returns without waiting",
    },
    {
      id: 'A2',
      behaviour:
        'the same tool call is retried (same key, protocol.md K16; checked before A16): same question, no second parent prompt, whatever its state now',
    },
    {
      id: 'A3',
      behaviour:
        'a second, different ask while one is pending: the pending question comes back; no second row, no second prompt (partial unique index, not only code)',
    },
    { id: 'A4', behaviour: '100 concurrent asks of one session: exactly one row and one parent prompt' },
    {
      id: 'A5',
      behaviour:
        'a task without parent, a normal task, a wrong session kind, a foreign session: typed refusal, nothing stored (NO_PARENT, NOT_AUTOPILOT, …)',
    },
    { id: 'A6', behaviour: 'caller tries to name a parent, child or session: not in the schema: refused' },
    { id: 'A7', behaviour: 'parent running: entry queued FIFO, the parent is never interrupted' },
    {
      id: 'A8',
      behaviour: "parent idle: its turn starts; on a paused queue it starts on resume, and S7's operator notification comes at once",
    },
    { id: 'A9', behaviour: 'parent never started: its first session starts with the question as its prompt' },
    {
      id: 'A10',
      behaviour: "parent's queue is full: questions and answers are never refused for capacity: the cap counts ordinary messages only",
    },
    {
      id: 'A11',
      behaviour: "parent's primary session terminal, another session live: the newest live session of the parent receives it, pinned",
    },
    {
      id: 'A12',
      behaviour:
        'parent archived, terminal or gone, or it has sessions and none is live: PARENT_UNAVAILABLE, nothing stored, no gate; the text tells the child to proceed with best judgment',
    },
    { id: 'A13', behaviour: 'storing fails at any statement: nothing visible anywhere, error to the caller' },
    { id: 'A14', behaviour: 'process killed between commit and wake-up: the outbox delivers after restart; one parent turn' },
    { id: 'A15', behaviour: 'calls after the ask in the same response: not executed; each gets an explicit result that names the reason' },
    {
      id: 'A16',
      behaviour:
        'calls after the ask in a later response of the same turn (an external agent that ignores the text): every tool call of that turn except reads and the ask itself (A2, A3) is refused TURN_ENDED_BY_QUESTION; the runtime is asked to end the turn',
    },
    {
      id: 'A17',
      behaviour:
        "a turn that asked ends (protocol.md K6b: whatever the question's status is by then): the workflow's on-turn-complete does not run, a completion signal and a deferred move of that turn are void; while the question is pending the session settles in waiting_for_input and ordinary queue entries stay queued",
    },
    { id: 'A18', behaviour: 'read error while checking for a pending question: fail closed: treated as pending' },
    {
      id: 'R1',
      behaviour:
        'recorded parent, which is still the direct parent, answers: answered; exactly one child turn opens with the attributed answer, in the recorded child session even when another is primary now (the target rule of §8 does not apply), on resume where its queue is paused; result { task_id, session_id, reply_to_question_id, status, delivery_id }',
    },
    { id: 'R2', behaviour: 'the same answer again, or another text after it: already_answered with the same delivery_id; no delivery' },
    {
      id: 'R3',
      behaviour: '100 concurrent answers, from several sessions of the parent: exactly one accepted, one child turn, 99 × already_answered',
    },
    {
      id: 'R4',
      behaviour:
        "stranger, sibling, grandparent, the child itself, an operator token: refused, no delivery, still pending; the error does not reveal the question's content",
    },
    { id: 'R5', behaviour: 'unknown id; id of an ordinary message; id of an operator clarification: refused, no delivery' },
    { id: 'R6', behaviour: 'right id, wrong task_id or wrong session_id: refused, no delivery' },
    { id: 'R7', behaviour: 'superseded or stale question: refused with its state, no delivery' },
    { id: 'R8', behaviour: 'after reparenting: old parent, new parent: both refused; the question is stale already (see S4)' },
    { id: 'R9', behaviour: 'blank id: an ordinary message' },
    { id: 'R10', behaviour: 'crash at any statement of accept: either nothing or all of it; a retry finishes it; one child turn' },
    { id: 'R11', behaviour: 'answer while the child is still finishing its turn: queued first in line, opens the next turn' },
    { id: 'R12', behaviour: 'answer races supersede, stale or terminal: exactly one wins; the loser has no side effect' },
    { id: 'R13', behaviour: 'delivery_mode: "interrupt": only the direct parent may; anyone else gets an error, never a silent downgrade' },
    {
      id: 'R14',
      behaviour:
        "autopilot parent that cannot decide: opens its own question one hop up; the chain of hops is recorded (caused_by_question_id, set by the backend from the turn's opening entry) and shown",
    },
    {
      id: 'R15',
      behaviour:
        'the answer reaches the top of a four-level chain and comes back down: each hop is answered by its own direct parent only; each level runs exactly one turn per answer',
    },
    {
      id: 'S1',
      behaviour:
        'operator or direct parent sends the child an explicit new prompt without correlation: superseded first, then the prompt is admitted',
    },
    {
      id: 'S2',
      behaviour:
        'a sibling or stranger messages the waiting child, or entries were queued before: they stay queued: no supersede, no drain',
    },
    {
      id: 'S3',
      behaviour:
        'child session or task terminal (completed, failed, cancelled, stop_task_kandev), archived, deleted: stale in the same transaction. Stopping a turn leaves its question pending',
    },
    {
      id: 'S4',
      behaviour:
        'child reparented or detached; parent deleted, archived, terminal, or its last live session ended: stale, and the child is woken with one system prompt saying that nobody can answer, so that no child waits for nobody',
    },
    { id: 'S5', behaviour: 'late answer after any of these: refused (R7)' },
    {
      id: 'S6',
      behaviour: 'process restart while pending: still pending, same badge, no agent launched, no duplicate parent prompt, nothing lost',
    },
    {
      id: 'S7',
      behaviour:
        'the question was delivered, a parent turn that began afterwards has settled, the parent is idle, still pending: one reminder to the parent per question; after a further such turn one operator notification, never more',
    },
    {
      id: 'S8',
      behaviour:
        'optional profile setting parent_question_timeout passes: stale with cause timeout, the child is told to proceed with best judgment',
    },
    {
      id: 'S9',
      behaviour: "superseded or stale while the parent's question entry is undelivered: that entry is cancelled in the same transaction",
    },
    {
      id: 'V1',
      behaviour:
        'pending action of a task: clarification while a parent question or an operator clarification is pending, permission while an approval is; clarification outranks; null otherwise; derived from the durable rows, equal after restart',
    },
    { id: 'V2', behaviour: "operator: sees the badge and, in the child's transcript, the question as a read-only record; no answer card" },
    { id: 'V3', behaviour: "operator's answer through any API: refused: only the parent answers" },
    {
      id: 'V4',
      behaviour:
        "ask_user_question_kandev (normal tasks): blocks the tool call, not a worker: the turn parks; answered, rejected, expired or cancelled by the operator; two operators race → one wins, the loser gets the winner's answer; identical re-ask is deduplicated",
    },
    {
      id: 'V5',
      behaviour:
        "the parent's prompt: attributed to the child, marked as a peer's words, not the operator's; carries no instruction authority beyond the question",
    },
    {
      id: 'M1',
      behaviour:
        'a message to a session that is running or starting: queued delivery: appended to the FIFO; interrupt: stored, then the current turn is cancelled at its next safe boundary and this entry opens the next turn; returns queued; sent if the interrupt took effect',
    },
    { id: 'M2', behaviour: 'a message to a session that is idle: queued delivery: opens a turn; interrupt: same; returns sent' },
    {
      id: 'M3',
      behaviour:
        "a message to a session that is waiting for its parent's answer: queued delivery: operator or direct parent: S1 (supersede), then opens a turn; anyone else: appended to the FIFO; interrupt: direct parent: S1; returns sent / queued",
    },
    {
      id: 'M4',
      behaviour:
        'a message to a session that is parked (approval, operator question): queued delivery: appended to the FIFO; interrupt: direct parent: stored, the parked turn is torn down, this entry opens the next turn; returns queued / sent',
    },
    {
      id: 'M5',
      behaviour:
        'a message to a session that is never started: queued delivery: starts the session with it; interrupt: same; returns started',
    },
    {
      id: 'M6',
      behaviour:
        'a message to a session that is terminal: queued delivery: typed error that names spawn_session_kandev; interrupt: same; returns –',
    },
    {
      id: 'M7',
      behaviour:
        'Target: explicit session_id must belong to the task, never redirected; else the live primary; else the newest live session; else an error.',
    },
    {
      id: 'M8',
      behaviour:
        'Rank, then order: notice, answer and superseding prompt 0; interrupt 1; question and alert 2; the rest 3. What each kind may do while a question is pending, auto-run is off, the turn is parked, the task blocked or terminal is one table in the domain.',
    },
    {
      id: 'M9',
      behaviour:
        'One entry opens one turn; cap 10 ordinary entries (0 = unlimited) → QUEUE_FULL { size, max, retry_after: "next_turn" } without contents.',
    },
    {
      id: 'M10',
      behaviour:
        'idempotency_key: unique per sender session; same key and body → the same delivery; same key, other body → IDEMPOTENCY_MISMATCH.',
    },
    {
      id: 'M11',
      behaviour:
        'Delivery record states: queued, delivered, cancelled, failed; readable by sender and receiver (get_message_delivery_kandev), content hidden from others.',
    },
    {
      id: 'M12',
      behaviour:
        'Stopping a session pauses its queue (auto_run = false, entries kept) until someone resumes it. Entries survive restarts and drain after one without help.',
    },
    {
      id: 'M13',
      behaviour: 'Same workspace only, unless a workspace grant says otherwise . Stop, spawn and interrupt are for the direct parent.',
    },
    {
      id: 'M14',
      behaviour:
        "A child whose turn ends badly (failed, limit, no completion signal where its step requires one) produces one folded alert entry in its parent's queue, never an interrupt; successful ordinary turns produce none.",
    },
    {
      id: 'M15',
      behaviour: 'When all direct children of a task are terminal, the parent gets one children_completed entry per completed set.',
    },
    {
      id: 'I1',
      behaviour: 'At most one pending question per session; at most one unfinished turn per session; exactly one primary session per task.',
    },
    {
      id: 'I2',
      behaviour:
        'Every answered question has exactly one queue entry and exactly one child turn; every delivered queue entry has exactly one turn (or joined exactly one).',
    },
    {
      id: 'I3',
      behaviour: 'Every tool call that the model made has exactly one result message; every created task has exactly one creating call.',
    },
    {
      id: 'I4',
      behaviour: 'No session is running without a live lease; no waiting session holds a worker, a connection or a timer in memory.',
    },
    { id: 'I5', behaviour: 'No pending question whose parent can no longer answer; no child waiting for nobody.' },
    { id: 'I6', behaviour: 'autopilot equals its value at creation; parent links are acyclic.' },
  ],
} as const;
