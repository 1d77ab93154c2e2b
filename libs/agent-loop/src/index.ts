export {
  MESSAGE_PARTS_VERSION,
  type ModelClient,
  type ModelEvent,
  type ModelFailure,
  type ModelMessage,
  type ModelRequest,
  type ProviderData,
  type TextPart,
  type ThoughtPart,
  type ToolCall,
  type ToolCallPart,
  type ToolResultPart,
  type ToolSpecification,
  type UnifiedFinishReason,
  type Usage,
} from './model-port.js';
export type { ToolDefinition, ToolEffect, ToolExecution, ToolResult } from './tool-port.js';
export { unifyFinishReason } from './finish-reason.js';
export { Spending } from './spending.js';
export { systemClock, type LoopClock } from './clock.js';
export { createToolRegistry, type ToolRegistry } from './tool-registry.js';
export { wordIssue } from './issue-wording.js';
export type { ArgumentLimits } from './argument-limits.js';
export {
  describeUnknownTool,
  refuseOverLimit,
  validateArguments,
  validateInput,
  type InvalidArguments,
  type Validation,
} from './validate-call.js';
export { CallLedger } from './call-ledger.js';
export { settleInterrupted, type CallStatus, type IdentifiedCall, type SettledCall } from './call-result.js';
export { compactHistory } from './compaction-plan.js';
export { pairHistory } from './history.js';
export type { EventSink, LoopEvent, RetryCause } from './loop-events.js';
export type {
  BarrierRefusal,
  BarrierReply,
  CallsBarrier,
  CompactionBarrier,
  Journal,
  PrepareReply,
  RequestBarrier,
  SealedCall,
  SealedResponse,
  SendType,
  Unrecorded,
} from './journal-port.js';
export { volatileJournal } from './journal-port.js';
export { NEW_COUNTERS, type LoopBudgets, type LoopCounters, type LoopLimits } from './limits.js';
export { RETRY_POLICY, type RetryPolicy } from './retry-policy.js';
export { Cut, type CutSignals } from './cut.js';
export { runModelRound, type ModelRoundInput, type ModelRoundResult, type ModelTarget, type SendPlan } from './model-round.js';
export type { AbandonedAttempt, ModelResponse } from './response.js';
export type {
  ApprovalAnswer,
  ArtifactStore,
  BatchHooks,
  BatchPolicies,
  KnownCalls,
  PermissionVerdict,
  Permissions,
  PlannedCall,
} from './batch-ports.js';
export { countLaunched } from './batch-ports.js';
export { OUTPUT_BUDGET, type OutputBudget } from './output-budget.js';
export { Barriers, persistenceError } from './barriers.js';
export { LoopGuard } from './loop-guard.js';
export type { ToolBatchInput } from './batch.js';
export { runToolBatch, type ToolBatchResult } from './tool-batch.js';
export type { FinalResults } from './finalize-results.js';
export type { LoopHooks, LoopInput, LoopResult, LoopUse, Opening, StartingPoint, StopPolicy } from './loop-input.js';
export { runLoop } from './loop.js';
export type { Budget, LoopErrorKind, LoopStop, StopReason, Wait } from './stop-reason.js';
export { turnOutcome, type TerminalOutcome, type TurnEnd } from './turn-outcome.js';
