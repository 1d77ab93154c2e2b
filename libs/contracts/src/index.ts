export { Cursor, Id, PageLimit, PageQuery, pageOf, WholeNumber, type Page } from './common.js';
export { ERRORS, Problem, type ErrorCode, type ErrorDefinition } from './errors.js';
export { DurableEvent, EventType, LiveEvent } from './event.js';
export {
  AnswerUserQuestion,
  AskQuestions,
  AskedParent,
  ParentQuestion,
  SendMessage,
  SentMessage,
  StoredQuestion,
  UserQuestion,
} from './question.js';
export { HOOK_TIMEOUT_SECONDS, HooksConfig, type Hook, type HookEvent } from './hooks.js';
export { Notification } from './notification.js';
export { EditQueueEntry, Message, MoveQueueEntry, QueueEntry, Session, SpawnedSession, SpawnSession, Turn } from './session.js';
export {
  CreateTask,
  CreatedTask,
  ListTasks,
  MovedTask,
  MoveTask,
  RelatedTasks,
  ReparentTask,
  StoppedTask,
  DeletedTask,
  Task,
  TaskDependencies,
  TaskState,
  TaskSummary,
  UpdateTask,
  WorkspaceMode,
} from './task.js';
export { DeletedTaskPlan, FoundTaskPlan, TaskPlan, WriteTaskPlan, WrittenTaskPlan } from './task-plan.js';
export { InvariantReport, type WorkspaceRoot, WorkspaceRoots } from './system.js';
export { CreateWorkflow, UpdateWorkflow, Workflow, WorkflowStep } from './workflow.js';
export {
  AgentProfile,
  CreateProfile,
  CreateWorkspace,
  IssueToken,
  IssuedToken,
  Token,
  UpdateProfile,
  Workspace,
  WorkspaceGrant,
} from './workspace.js';
