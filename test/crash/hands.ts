/** The services that the operations need, as a process has them that does nothing else. */
import { DEFAULT_LIMITS } from '@echelon/domain';
import type { Database } from '@echelon/persistence';
import { MessageService } from '../../libs/orchestration/src/message.service.js';
import { QuestionService } from '../../libs/orchestration/src/question.service.js';
import { QueueService } from '../../libs/orchestration/src/queue.service.js';
import { SessionService } from '../../libs/orchestration/src/session.service.js';
import { TaskService } from '../../libs/orchestration/src/task.service.js';
import { TurnService } from '../../libs/orchestration/src/turn.service.js';
import { type CommitListener, Transactions } from '../../libs/orchestration/src/unit-of-work.js';

export interface Hands {
  readonly database: Database;
  readonly transactions: Transactions;
  readonly questions: QuestionService;
  readonly messages: MessageService;
  readonly turns: TurnService;
  readonly tasks: TaskService;
  readonly sessions: SessionService;
  readonly queues: QueueService;
}

/** What commits through these hands stays in the outbox, unless a listener takes it. */
export function openHands(database: Database, listener: CommitListener = { committed: () => undefined }): Hands {
  const transactions = new Transactions(database, listener);
  return {
    database,
    transactions,
    questions: new QuestionService(database, transactions, DEFAULT_LIMITS),
    messages: new MessageService(database, transactions, DEFAULT_LIMITS),
    turns: new TurnService(database, transactions, DEFAULT_LIMITS),
    sessions: new SessionService(database, transactions),
    queues: new QueueService(transactions, DEFAULT_LIMITS),
    tasks: new TaskService(database, transactions, DEFAULT_LIMITS),
  };
}
