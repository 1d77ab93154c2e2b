export { Database, violatedConstraint, type Tx } from './database.js';
export { newId } from './id.js';
export { PRESENCE_TIMES, takePresence, type Presence, type PresenceListener, type PresenceTimes, type RenewedLease } from './presence.js';
export { migrate, MigrationError, type MigrationErrorCode } from './migrate.js';
export { createPool, type PoolOptions } from './pool.js';
export type { MessageRow, ParentQuestionMetadata, QueueEntryRow, SessionRow, TaskRow, TurnRow } from './rows.js';
export {
  PRESENCE_LOCK_CLASS,
  isLeaseLive,
  lockWithLease,
  openTurn,
  releaseLease,
  takeLease,
  type Lease,
  type LeaseHolder,
} from './sql/claim-session.js';
export { countOtherActiveSessions, findEntry, findSession, findTask, setWakeAt } from './sql/find-rows.js';
export { insertEntry, type NewEntry } from './sql/insert-entry.js';
export { insertEvent, type NewEvent } from './sql/insert-event.js';
export { insertMessage, type NewMessage } from './sql/insert-message.js';
export {
  insertArtifact,
  insertModelRequest,
  insertToolCalls,
  listHistory,
  listToolCalls,
  markIntents,
  passFence,
  sealModelRequest,
  settleToolCall,
  storeContract,
  type Fence,
  type HistoryRow,
  type StoredCall,
} from './sql/journal.js';
export { loadAdmission } from './sql/load-admission.js';
export { lockLiveSessions, lockSessions, lockTasks } from './sql/lock-rows.js';
export { deleteOutbox, insertOutbox, listLeftOutbox, type OutboxRow } from './sql/outbox.js';
export { setRunnable } from './sql/set-runnable.js';
export { lockSequencer, stampEvents, type StampedEvent } from './sql/stamp-events.js';
export { countAnnouncement, listDue, listExpiredQuestions, listForgotten, listVoidLeases } from './sql/sweep.js';
export { readMinimumWorker, registerWorker, removeWorker, touchWorker, type WorkerRow } from './sql/worker.js';
export { backOff, beginTurn, countTakeover, findOpenTurn, finishTurn, parkTurn, type TurnEnd } from './sql/turn-end.js';
