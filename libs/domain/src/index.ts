export {
  ADMITTED,
  OBSTACLES,
  mayWork,
  nextDelivery,
  nextWork,
  type AdmissionFacts,
  type NextWork,
  type Obstacle,
  type OpenTurnFacts,
  type QueuedEntryFacts,
} from './admission.js';
export { canonicalJson, canonicalText } from './canonical-text.js';
export {
  EXTERNAL_CONTRACT,
  deriveContract,
  withoutTurnEnding,
  type Capability,
  type Contract,
  type ContractFacts,
  type PromptProfile,
} from './contract.js';
export { decideCreation, type Creation, type CreationFacts, type CreationLimits } from './creation.js';
export {
  blockedReasonOf,
  isBlocked,
  refuseBlocker,
  refuseDependency,
  RELEASING_STATES,
  type Blocker,
  type DependencyEdge,
} from './dependency.js';
export { DEFAULT_LIMITS, LIMITS, type LimitName, type Limits } from './limits.js';
export { type Machine } from './machine.js';
export {
  chooseTargetSession,
  decideArrival,
  type Arrival,
  type ArrivalFacts,
  type SenderRelation,
  type TargetSessionFacts,
} from './message-routing.js';
export { pendingActionOf, type PendingAction } from './pending-action.js';
export {
  decidePermission,
  matchesPattern,
  PERMISSION_MODES,
  type CallEffect,
  type PermissionFacts,
  type PermissionMode,
  type PermissionPolicy,
  type PermissionRule,
} from './permission.js';
export {
  decideAnswer,
  decideAsk,
  needsNotice,
  questionMachine,
  type AnswerFacts,
  type AnswerOutcome,
  type AskFacts,
  type AskOutcome,
  type ParentReach,
  type QuestionEndCause,
  type QuestionStatus,
} from './question.js';
export {
  CHANGEABLE,
  KEPT_WHEN_STOPPED,
  ENTRY_KINDS,
  countsTowardsCap,
  queueEntryMachine,
  rankOf,
  type DeliveryMode,
  type EntryKind,
  type QueueChange,
  type QueueEntryState,
} from './queue-entry.js';
export { isRefusal, refuse, type Refusal, type RefusalCode } from './refusal.js';
export { DEFAULT_RETENTION, RETENTION, type Retention, type RetentionName } from './retention.js';
export {
  carriesAutopilot,
  isDriven,
  isResumable,
  receivesTools,
  sessionMachine,
  RUNTIME_KINDS,
  type RuntimeKind,
  type SessionEvent,
  type SessionKind,
  type SessionState,
} from './session.js';
export { decideSpawn, type Spawn } from './session-spawn.js';
export { type Reach, reachesFamily, settleTurn, type Settlement, type SettlementFacts } from './settlement.js';
export { endStep, NO_STEP, type StepEnd, type StepEndFacts, type StepFacts } from './step-end.js';
export { refuseReparent } from './task-parent.js';
export { decidePlanWrite, type PlanIntention, type PlanWriter, refusePlanWriter } from './task-plan.js';
export { taskMachine, type TaskEvent, type TaskState } from './task.js';
export { PARK_EVENTS, turnMachine, type ParkReason, type TurnEvent, type TurnOutcome, type TurnStatus } from './turn.js';
export { type OnTurnComplete, refuseWorkflow, type StepDefinition, targetOf } from './workflow.js';
