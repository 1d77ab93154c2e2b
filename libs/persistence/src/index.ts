export { applicationRole, grantSchema, sessionOptions } from './application-role.js';
export { ChangedMeanwhile, Database, isStatementTimeout, violatedConstraint, type OpenTx, type Tx } from './database.js';
export { isDatabaseUnavailable } from './unavailable.js';
export { newId } from './id.js';
export { PRESENCE_TIMES, takePresence, type Presence, type PresenceListener, type PresenceTimes, type HeldLease } from './presence.js';
export { migrate, MigrationError, type MigrationErrorCode } from './migrate.js';
export { createPool, type PoolOptions } from './pool.js';
export type {
  MessageRow,
  ParentQuestionMetadata,
  ProfileRow,
  QuestionRow,
  QueueEntryRow,
  SessionRow,
  TaskRow,
  TokenRow,
  TurnRow,
  UserQuestionMetadata,
  UserQuestionRow,
  WorkflowStepRow,
  WorkspaceRow,
} from './rows.js';
export { PRESENCE_LOCK_CLASS } from './sql/presence-lock.js';
export { isLeaseLive, openTurn, releaseLease, takeLease, type Lease, type LeaseHolder, readSilence } from './sql/claim-session.js';
export { countActiveSessions, findEntry, findSession, findTask, setWakeAt } from './sql/find-rows.js';
export { checkInvariants, type CheckedInvariant, type InvariantName } from './sql/invariants.js';
export { cancelQuestionNotice, setCause, touchAttached } from './sql/attached-session.js';
export { editEntry, listQueuedOfRank, reorderEntries } from './sql/change-entry.js';
export {
  acknowledgeNotification,
  insertNotification,
  listNotifications,
  type NewNotification,
  type NotificationRow,
} from './sql/notification.js';
export {
  findReplacedRows,
  hideUnsentPrompts,
  listCallingResponses,
  listHistory,
  storeSummaryRequest,
  type HistoryRow,
  type ReplacedRows,
} from './sql/history.js';
export { insertEntry, type NewEntry } from './sql/insert-entry.js';
export { sendEvents, type NewEvent } from './sql/insert-event.js';
export { insertMessage, sendMessage, type NewMessage } from './sql/insert-message.js';
export {
  insertToolCalls,
  listToolCalls,
  listUnsettledProcesses,
  markIntents,
  findToolList,
  passFence,
  replaceResult,
  sealModelRequest,
  sendModelRequest,
  settleToolCall,
  storeCallProcess,
  storeContract,
  upsertArtifact,
  type Fence,
  type StoredContract,
  type StoredCall,
} from './sql/journal.js';
export { findAdmission, loadAdmission, type Admission } from './sql/load-admission.js';
export { findWaitedFor, findWaiting, listAboveWaiting } from './sql/dependency.js';
export { deleteDependency, insertDependencies, listBlockers, listDependents, listReleasedBy, listUpstream } from './sql/dependency.js';
export { lockSessions, lockTaskOf, lockTasks } from './sql/lock-rows.js';
export { deleteOutbox, listLeftOutbox, markAnnounced, sendOutbox, sendOutboxUnlocked, type OutboxRow } from './sql/outbox.js';
export { findThread, listThreadMessages, sumThreadTokens, type ThreadId, type ThreadMessage } from './sql/thread.js';
export { setRunnable } from './sql/set-runnable.js';
export { lockSequencer, stampEvents, type StampedEvent } from './sql/stamp-events.js';
export { invalidateCursors, listInterruptedTurns, revokeAllTokens, revokeLeases } from './sql/restore.js';
export { countAnnouncement, listDue, listExpiredQuestions, listExpiredUserQuestions, listForgotten, listVoidLeases } from './sql/sweep.js';
export {
  announceUnreached,
  listReachedRoots,
  placeFolder,
  readWorkspaceRoots,
  registerRoot,
  type WorkspaceRoot,
  type WorkspaceRootView,
} from './sql/workspace-root.js';
export { readMinimumWorker, registerWorker, removeWorker, touchWorker, type WorkerRow } from './sql/worker.js';
export { backOff, beginTurn, countTakeover, findOpenTurn, finishTurn, parkTurn, type TurnEnd } from './sql/turn-end.js';
export type { Keyset, PageOf } from './keyset.js';
export { findProfile, listProfiles } from './profile.repository.js';
export { listMessages, listQueue, listTurns, type MessageFilter, type QueueKey } from './session.repository.js';
export { claimKey, findKeyedCall, releaseKey, storeKeyedResult, type CallKey } from './sql/keyed-result.js';
export { insertAudit, type NewAudit } from './sql/insert-audit.js';
export { countChildIn, findTaskByKey, insertPrimarySession, insertTask, type CreationKey, type NewTask } from './sql/insert-task.js';
export { listSubtree, lockStructure, lockStructureOf, setParent } from './sql/move-below.js';
export { countSessions, insertSession, releasePrimary } from './sql/insert-session.js';
export { readEventRange, readEvents, type EventRange } from './sql/read-events.js';
export { findPrimarySession, readSession, readSessionsOfTask, type SessionView } from './sql/read-sessions.js';
export { readRelatedTasks, readTask, readTasks, type TaskRelation, type TaskView } from './sql/read-tasks.js';
export { countRecentlyCreated, listChildIds, listLineage, listOpenDescendants } from './sql/task-tree.js';
export { countTreeTurns, listNextInTree, lockTreeTurns } from './sql/tree-turns.js';
export {
  archiveProfile,
  countAutopilotUses,
  holdFirstProfile,
  holdProfile,
  insertProfile,
  lockProfile,
  updateProfile,
  type ProfileFields,
} from './sql/write-profile.js';
export {
  findFirstOperator,
  findValidToken,
  insertOperator,
  insertToken,
  revokeToken,
  sendTurnToken,
  touchToken,
  type NewToken,
  type ValidToken,
} from './sql/write-token.js';
export { listLeftCascades, setArchived, setStopping, updateOpeningPrompt, updateTaskTexts } from './sql/write-task.js';
export { deletePlan, findPlan, findPlanWrite, insertPlanWrite, type PlanRow, type StoredPlan, writePlan } from './sql/task-plan.js';
export { insertWorkspace } from './sql/write-workspace.js';
export { deleteGrant, holdGrant, insertGrant, listGrants, type WorkspaceGrantRow } from './sql/workspace-grant.js';
export { findDefaultWorkspace, workspaceExists } from './sql/find-workspace.js';
export { storeAgentSession } from './sql/agent-session.js';
export { listTokens } from './token.repository.js';
export { findWorkspace, listWorkspaces } from './workspace.repository.js';
export { endLiveSession, fenceSession, restWaitingSession, setAutoRun } from './sql/end-session.js';
export { listFamilyTaskIds, lockSessionSets, type SessionSets } from './sql/lock-family.js';
export { countChildOut, listChildren, listLiveSessions, updateTaskState, type TaskMove } from './sql/move-task.js';
export {
  detachChildren,
  isBelowDeleted,
  isFolderShared,
  listChildrenOfDeleted,
  listLeftDeletions,
  listPurgeable,
  lockDeleted,
  purgeSessionRows,
  purgeTask,
  purgeTurns,
  setDeleted,
  wasDeletedBy,
} from './sql/delete-task.js';
export {
  answerPendingQuestion,
  endPendingQuestion,
  findPendingQuestion,
  findQuestion,
  findQuestionByKey,
  listQuestionsTo,
  redirectQuestion,
} from './sql/question.js';
export {
  cancelEntry,
  cancelQuestionEntries,
  cancelStepEntries,
  failEntries,
  failKeptEntries,
  takeKeptEntries,
  findQueuedAlert,
  replaceEntryText,
} from './sql/settle-entry.js';
export { cancelSessionQuestions, cancelTurnWaits, settleTurnCalls, type SettledTurnCall } from './sql/turn-waits.js';
export { decideUserQuestion, findCausingQuestion, findSameUserQuestion, findUserQuestion, markAsked } from './sql/ask.js';
export { countQueuedPrompts, findEntryByKey, listSessions } from './sql/find-delivery.js';
export { readQuestion, readQuestionChain, readQuestions, type QuestionFilter, type QuestionView } from './sql/read-questions.js';
export {
  findFirstStep,
  findStep,
  holdStep,
  readWorkflow,
  readWorkflows,
  setDeferredStep,
  type StepView,
  updateTaskStep,
  type WorkflowView,
} from './sql/workflow.js';
export {
  archiveWorkflow,
  countUses,
  insertWorkflow,
  lockDefinitions,
  lockWorkflow,
  setDefaultWorkflow,
  type StepFields,
  touchWorkflow,
  writeSteps,
} from './sql/write-workflow.js';
export { findTurn, requestStop, storeCompletionSignal } from './sql/stop-turn.js';
export { listUnanswered, markReminded } from './sql/follow-up.js';
export { countOpenQuestions, databaseAnswers, readTime } from './sql/deployment-facts.js';
export { deleteOld } from './sql/retention.js';
