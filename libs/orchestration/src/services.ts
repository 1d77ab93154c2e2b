import type { AttachedService } from './attached.service.js';
import type { ContractService } from './contract.service.js';
import type { EventService } from './event.service.js';
import type { IdempotencyService } from './idempotency.service.js';
import type { MessageService } from './message.service.js';
import type { NotificationService } from './notification.service.js';
import type { ProfileService } from './profile.service.js';
import type { QuestionService } from './question.service.js';
import type { QueueService } from './queue.service.js';
import type { SessionService } from './session.service.js';
import type { SystemService } from './system.service.js';
import type { TaskPlanService } from './task-plan.service.js';
import type { TaskService } from './task.service.js';
import type { TokenService } from './token.service.js';
import type { TurnService } from './turn.service.js';
import type { WorkflowService } from './workflow.service.js';
import type { WorkspaceService } from './workspace.service.js';

/** What server, tools and command line receive: every intention of the product. */
export interface Services {
  readonly workspaces: WorkspaceService;
  readonly workflows: WorkflowService;
  readonly profiles: ProfileService;
  readonly tokens: TokenService;
  readonly tasks: TaskService;
  readonly plans: TaskPlanService;
  readonly sessions: SessionService;
  readonly contracts: ContractService;
  readonly attached: AttachedService;
  readonly queue: QueueService;
  readonly turns: TurnService;
  readonly messages: MessageService;
  readonly questions: QuestionService;
  readonly notifications: NotificationService;
  readonly events: EventService;
  readonly idempotency: IdempotencyService;
  readonly system: SystemService;
}
