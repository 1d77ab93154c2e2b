import type { EventBus } from '@echelon/messaging';
import type { Limits } from '@echelon/domain';
import type { Database } from '@echelon/persistence';
import { AttachedService } from './attached.service.js';
import { ContractService } from './contract.service.js';
import { EventService } from './event.service.js';
import { IdempotencyService } from './idempotency.service.js';
import { MessageService } from './message.service.js';
import { NotificationService } from './notification.service.js';
import { ProfileService } from './profile.service.js';
import { QuestionService } from './question.service.js';
import { QueueService } from './queue.service.js';
import type { Services } from './services.js';
import { SessionService } from './session.service.js';
import { SystemService } from './system.service.js';
import { TaskPlanService } from './task-plan.service.js';
import { TaskService } from './task.service.js';
import { TokenService } from './token.service.js';
import { TurnService } from './turn.service.js';
import type { Transactions } from './unit-of-work.js';
import { WorkflowService } from './workflow.service.js';
import { WorkspaceService } from './workspace.service.js';

export interface ServicesOptions {
  readonly database: Database;
  readonly transactions: Transactions;
  readonly bus: EventBus;
  readonly limits: Limits;
}

/** Every service, on one database and one bus. */
export function createServices({ database, transactions, bus, limits }: ServicesOptions): Services {
  return {
    workspaces: new WorkspaceService(database, transactions),
    workflows: new WorkflowService(database, transactions, limits),
    profiles: new ProfileService(database, transactions, limits),
    tokens: new TokenService(database, transactions),
    tasks: new TaskService(database, transactions, limits),
    plans: new TaskPlanService(database, transactions, limits),
    sessions: new SessionService(database, transactions),
    contracts: new ContractService(database, bus),
    attached: new AttachedService(database, transactions, bus),
    queue: new QueueService(transactions, limits),
    turns: new TurnService(database, transactions, limits),
    messages: new MessageService(database, transactions, limits),
    questions: new QuestionService(database, transactions, limits),
    notifications: new NotificationService(database, transactions),
    events: new EventService(database, bus),
    idempotency: new IdempotencyService(database),
    system: new SystemService(database),
  };
}
