import type { QueueEntry, SendMessage, SentMessage } from '@echelon/contracts';
import { canonicalText, isRefusal, type Limits, refuse } from '@echelon/domain';
import { type Database, findEntry, findSession } from '@echelon/persistence';
import type { Actor } from './actor.js';
import { answerQuestion } from './answer-question.js';
import { oncePerKey } from './business-key.js';
import { deliverMessage } from './deliver-message.js';
import { type Outcome, refusalOf } from './outcome.js';
import { inScope, isId } from './scope.js';
import { toQueueEntry } from './session-view.js';
import type { Transactions } from './unit-of-work.js';

/** Messages into sessions: ordinary ones, and answers to parent questions. */
export class MessageService {
  constructor(
    private readonly database: Database,
    private readonly transactions: Transactions,
    private readonly limits: Limits,
  ) {}

  /**
   * Sends a message to a task (autopilot-contract.md §8), or answers a parent question when `reply_to_question_id` is not blank
   * (§5). A repeated `idempotency_key` of the same sender gives the first delivery; an answer is idempotent by its question.
   */
  async send(actor: Actor, taskId: string, input: SendMessage): Promise<Outcome<SentMessage>> {
    const text = canonicalText(input.prompt);
    const questionId = input.reply_to_question_id?.trim();
    const sessionId = input.session_id ?? null;
    if (questionId) {
      const answer = { questionId, taskId, sessionId, text };
      return refusalOf(this.transactions.run((unit) => answerQuestion(unit, this.limits, actor, answer)));
    }
    if (!isId(taskId)) return refuse('NOT_FOUND');
    const message = { taskId, sessionId, text, mode: input.delivery_mode, key: input.idempotency_key ?? null };
    return oncePerKey(() => this.transactions.run((unit) => deliverMessage(unit, this.limits, actor, message)));
  }

  /** A delivery. Its text is shown to operators, to the sender's task and to the receiver's; others see that it exists. */
  async getDelivery(actor: Actor, id: string): Promise<Outcome<QueueEntry>> {
    const found = isId(id) ? await findEntry(this.database, id) : null;
    const sent = actor.kind === 'agent' && found?.sender_task_id === actor.taskId;
    const entry = sent && found ? found : inScope(actor, found);
    if (isRefusal(entry)) return entry;
    const receiver = await findSession(this.database, entry.session_id);
    if (!receiver) return refuse('NOT_FOUND');
    const shown = toQueueEntry(entry);
    if (sent || actor.kind === 'operator') return shown;
    return receiver.task_id === actor.taskId ? shown : { ...shown, text: '' };
  }
}
