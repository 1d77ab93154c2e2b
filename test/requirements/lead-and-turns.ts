/** Turns, Lead, Stop, approvals, outcomes and titles. */
export const leadAndTurns = {
  document: 'lead-and-turns.md',
  finished: false,
  rows: [
    { id: 'L1', behaviour: 'turn streaming, valid text: accepted, stored, pending; the response is not touched' },
    { id: 'L2', behaviour: 'the response ends without calls: the turn does not end: the next request ends with the Lead' },
    {
      id: 'L3',
      behaviour:
        'the response has calls, none started: the first call still runs (with its approval); the others get "not executed: the operator redirected the turn; this output does not exist; call again if still needed"; next request: results, then the Lead',
    },
    { id: 'L4', behaviour: 'one call is running: it finishes, its result is kept; a file write is never cancelled for a Lead' },
    { id: 'L5', behaviour: 'several concurrent reads are running: those started finish; those not started are skipped' },
    { id: 'L6', behaviour: 'Lead arrives after the last call: included in the next request' },
    {
      id: 'L7',
      behaviour:
        'Lead arrives while a request is planned, or prepared and not sent: that request is discarded; none goes out without the Lead',
    },
    { id: 'L8', behaviour: 'several pending: all together, in save order, in one request' },
    { id: 'L9', behaviour: '8 pending: the ninth is refused LEAD_QUEUE_FULL; after the next boundary there is room' },
    {
      id: 'L10',
      behaviour:
        'exactly 32,768 UTF-8 bytes after trimming: accepted; 32,769 → LEAD_TOO_LARGE; bytes count, not characters; only white space → LEAD_EMPTY',
    },
    {
      id: 'L11',
      behaviour:
        "another session's turn, an ended turn, a stale turn id: TURN_NOT_ACTIVE; never redirected to a newer turn, never starts one",
    },
    { id: 'L12', behaviour: 'the turn is finishing or stopping: TURN_FINISHING, TURN_STOPPING; the draft stays with the client' },
    { id: 'L13', behaviour: 'store fails: LEAD_NOT_SAVED; no trace; the text is in no request; a later Lead works' },
    {
      id: 'L14',
      behaviour: 'two operators at once, 7 pending: one accepted, one LEAD_QUEUE_FULL; order is commit order; each keeps its author',
    },
    { id: 'L15', behaviour: 'same client key and text again / other text: the same Lead / IDEMPOTENCY_MISMATCH' },
    { id: 'L16', behaviour: 'preparing turn : accepted, part of the first request' },
    { id: 'L17', behaviour: 'Lead races finish, 1,000 times: either refused or the turn goes on with it; never accepted and ignored' },
    { id: 'L18', behaviour: 'Lead pending: author may edit or withdraw until it is included; afterwards refused' },
    { id: 'L19', behaviour: "context nearly full, compaction: the turn's opening instruction and its Leads survive, each once" },
    {
      id: 'L20',
      behaviour:
        "provider refuses a user message right after tool results: placement is the adapter's (separate, merged_last, bridge); request accepted",
    },
    { id: 'L21', behaviour: 'text beginning with a slash command: literal text' },
    { id: 'L22', behaviour: 'request with a Lead fails and is retried: same Lead once; it is never "pending" again' },
    { id: 'L23', behaviour: 'attachments in the composer: Lead is text only; attachments stay for an ordinary send' },
    {
      id: 'L24',
      behaviour:
        'worker dies with a pending Lead: still pending; applied at the first boundary of the resumed turn; if the turn cannot resume: unapplied',
    },
    {
      id: 'L25',
      behaviour:
        "Lead pending when a call ends the turn, or saved between the ask and the end of the turn: explicit new child input: the question becomes superseded in finish-if-quiet, and the turn continues with the ask's result, then the Lead",
    },
    {
      id: 'L26',
      behaviour: 'Lead while an operator question is open: stored, the question stays open, no request; applied after its answer',
    },
    {
      id: 'P1',
      behaviour: 'a call waits for approval and a Lead is saved: the approval stays open, nothing is auto-decided, no request goes out',
    },
    {
      id: 'P2',
      behaviour: 'allow / deny after that: runs once / never runs and is recorded as denied; then the next request: result, Lead',
    },
    {
      id: 'P3',
      behaviour:
        'several approvals of a batch are open, Lead saved: the first unlaunched call in request order keeps its approval (none does when a call of the batch is running); the others are closed in the accept transaction as superseded, never denied, and their calls skipped as in L3; a late decision on them is stale',
    },
    { id: 'P4', behaviour: 'operator closes the browser: nothing changes; answerable from another client' },
    { id: 'P5', behaviour: '"deny and lead": one atomic action' },
    {
      id: 'P6',
      behaviour: 'Stop while waiting: approval cancelled once; "not executed, approval cancelled"; a late Allow is refused as stale',
    },
    {
      id: 'P7',
      behaviour: 'waiting for hours: no worker is held: the turn is parked; Allow resumes at exactly that call, after restarts too',
    },
    { id: 'P8', behaviour: 'two operators decide: compare-and-set; the second sees the decision' },
    { id: 'P9', behaviour: 'tool server reconfigured after approval: refused as stale authority, not as a denial' },
    {
      id: 'P10',
      behaviour:
        'scopes: once, this session, this workspace; a grant binds server identity, tool and arguments class; saving a grant fails → that operation is denied and the failure shown',
    },
    {
      id: 'P11',
      behaviour:
        "autopilot task: same approvals: autopilot is not an authorization bypass; the profile's permission policy decides, and what it leaves open waits for an operator",
    },
    {
      id: 'P12',
      behaviour:
        "a worker's subagent needs an approval: denied with a reason (subagents do not park; an intended difference); where a person is present it is asked through the parent's approval port",
    },
    { id: 'T1', behaviour: "streaming: partial text kept, outcome stopped; the next turn's history carries it with a marker" },
    {
      id: 'T2',
      behaviour:
        'a tool is running: its result is kept if it comes; else unknown, inspect before retrying; unstarted calls not executed, stopped; no further request',
    },
    { id: 'T3', behaviour: 'pending Lead: saved, shown as unapplied; no new turn' },
    {
      id: 'T4',
      behaviour: 'Stop twice; Stop for an old turn id; Stop for another session: no second effect; newer turn unaffected; no effect',
    },
    { id: 'T5', behaviour: 'queued follow-ups: held (auto_run off) until resumed' },
    { id: 'T6', behaviour: 'Stop and an automatic continuation compete: Stop wins' },
    {
      id: 'T7',
      behaviour: 'parent stops a child: same path; descendants are listed in the result and stopped only when asked (cascade: true)',
    },
    { id: 'T8', behaviour: 'stop after the current action: offered beside Stop' },
    { id: 'W1', behaviour: '12, 200, 2,000 useful rounds: all run; no cut-off by count' },
    { id: 'W2', behaviour: 'end conditions: model finishes, error prevents progress, Stop, loop protection, or an explicitly set budget' },
    {
      id: 'W3',
      behaviour:
        'final response empty, thought-only, white space: completed_empty, shown explicitly; when tools already answered the user the note says so',
    },
    {
      id: 'W4',
      behaviour:
        'empty and stopped: stopped wins. Precedence: stopped > interrupted > error > every other explicit reason > completed_empty > completed',
    },
    { id: 'W5', behaviour: 'output limit with calls: zero executions, zero approvals; text kept and marked; outcome output_limit' },
    { id: 'W6', behaviour: 'output limit with a pending Lead : the truncated calls still never run; the turn continues with the Lead' },
    { id: 'W7', behaviour: 'row reloaded: unified and raw finish reason are there; in API, events and dashboard' },
    {
      id: 'W8',
      behaviour:
        'malformed tool format: one retry per turn with a one-round host note on the newest turn (system prompt bytes unchanged); second time tool_format',
    },
    { id: 'W9', behaviour: 'prompt cannot fit the window: local error, zero requests' },
    { id: 'W10', behaviour: 'system prompt: byte-identical across the rounds of a turn (prefix caches)' },
    {
      id: 'W11',
      behaviour:
        'Retry of a failed turn, Continue of an interrupted one: a new turn whose first round is a retry: it replaces the failed attempt in model history; never sent → history unchanged; detector and cap start over',
    },
    {
      id: 'N1',
      behaviour: 'new task without title: deterministic placeholder at once (first six words, ≤ 60 graphemes), marked provisional',
    },
    {
      id: 'N2',
      behaviour:
        "first usable text response sealed: title request issued before that response's tools are executed; runs beside them; counts against the engine's slots: on a one-slot engine it completes (bounded, 8 s) before tools start, and subagent requests wait; never two inferences of one session at once: the next model request waits for it, bounded (8 s), then aborts it",
    },
    { id: 'N3', behaviour: 'first response has calls only: after the first completed tool round' },
    { id: 'N4', behaviour: 'setting after_turn: for engines with one slot and a prefix cache' },
    {
      id: 'N5',
      behaviour:
        'renamed by hand meanwhile, even back to the placeholder; preference switched off: the manual title stays (revision compare-and-set)',
    },
    {
      id: 'N6',
      behaviour:
        "empty, multi-line, quoted, > 60 graphemes, thinking only, request failed: cleaned, else the placeholder becomes final; the turn's outcome is unaffected",
    },
    { id: 'N7', behaviour: 'Stop during it: no title; the next turn may try; at most 4 attempts per session, one generated write' },
    { id: 'N8', behaviour: 'two workers race: one write' },
    {
      id: 'N9',
      behaviour: 'budget: ≥ 1,024 output tokens, 300-grapheme excerpts of the opening message and first reply; Leads never feed it',
    },
  ],
} as const;
