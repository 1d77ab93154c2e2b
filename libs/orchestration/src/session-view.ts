import type { Message, QueueEntry, Session, Turn } from '@echelon/contracts';
import { pendingActionOf } from '@echelon/domain';
import type { MessageRow, QueueEntryRow, SessionView, TurnRow } from '@echelon/persistence';
import { parseParts } from './message-content.js';

/** A session as it is shown; what waits for a person is derived from the rows at every reading (V1). */
export function toSession(row: SessionView, waitsForTree: boolean): Session {
  return {
    id: row.id,
    task_id: row.task_id,
    kind: row.kind,
    name: row.name,
    state: row.state,
    pending_action: pendingActionOf({ questions: row.open_questions, approvals: row.open_approvals }),
    is_primary: row.is_primary,
    runtime: row.runtime,
    profile_id: row.profile_id,
    auto_run: row.auto_run,
    waits_for_tree: waitsForTree,
    current_turn_id: row.current_turn_id,
    created_at: row.created_at.toISOString(),
    updated_at: row.updated_at.toISOString(),
    ended_at: row.ended_at?.toISOString() ?? null,
  };
}

export function toTurn(row: TurnRow): Turn {
  return {
    id: row.id,
    session_id: row.session_id,
    number: row.number,
    status: row.status,
    outcome: row.outcome,
    outcome_detail: row.outcome_detail,
    finish_reason: row.finish_reason,
    raw_finish_reason: row.raw_finish_reason,
    ended_by_question_id: row.ended_by_question_id,
    rounds: row.rounds,
    input_tokens: row.input_tokens,
    output_tokens: row.output_tokens,
    started_at: row.started_at.toISOString(),
    ended_at: row.ended_at?.toISOString() ?? null,
  };
}

/** One line of a conversation, its parts read from their stored text. */
export function toMessage(row: MessageRow): Message {
  return {
    id: row.id,
    session_id: row.session_id,
    sequence: row.sequence,
    turn_id: row.turn_id,
    thread_id: row.thread_id,
    type: row.type,
    role: row.role,
    parts: parseParts(row.content).map((part) => ({ ...part })),
    metadata: row.metadata,
    hidden: row.hidden,
    created_at: row.created_at.toISOString(),
  };
}

export function toQueueEntry(row: QueueEntryRow): QueueEntry {
  return {
    id: row.id,
    session_id: row.session_id,
    kind: row.kind,
    state: row.state,
    rank: row.rank,
    order: row.order,
    text: row.text,
    sender_kind: row.sender_kind,
    sender_task_id: row.sender_task_id,
    sender_session_id: row.sender_session_id,
    question_id: row.question_id,
    turn_id: row.turn_id,
    revision: row.revision,
    created_at: row.created_at.toISOString(),
    settled_at: row.settled_at?.toISOString() ?? null,
  };
}
