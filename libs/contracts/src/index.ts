export { Cursor, Id, Instant, PageQuery, pageOf, type Page } from './common.js';
export { ERRORS, Problem, type ErrorCode, type ErrorDefinition } from './errors.js';
export { DurableEvent, EVENT_TYPES, EventType, LiveEvent } from './event.js';
export {
  AnswerUserQuestion,
  AskQuestions,
  AskedParent,
  ParentQuestion,
  QuestionInput,
  SendMessage,
  SentMessage,
  StoredQuestion,
  UserQuestion,
} from './question.js';
export { Message, QueueEntry, Session, SessionState, Turn, TurnStatus } from './session.js';
export {
  CreateTask,
  CreatedTask,
  ListTasks,
  PendingAction,
  RelatedTasks,
  StoppedTask,
  Task,
  TaskState,
  TaskSummary,
  UpdateTask,
  WorkspaceMode,
} from './task.js';
export {
  AgentProfile,
  Budgets,
  CreateProfile,
  CreateWorkspace,
  IssueToken,
  IssuedToken,
  Runtime,
  Token,
  UpdateProfile,
  Workspace,
} from './workspace.js';
