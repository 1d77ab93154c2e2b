import type { QueueEntry, SendMessage, SentMessage } from '@echelon/contracts';
import { canonicalText, isRefusal, type Limits, refuse } from '@echelon/domain';
import { type Database, findEntry, findSession, violatedConstraint } from '@echelon/persistence';
import type { Actor } from './actor.js';
import { answerQuestion } from './answer-question.js';
import { deliverMessage } from './deliver-message.js';
import { checkBytes } from './limit-checks.js';
import { type Outcome, refusalOf } from './outcome.js';
import { inScope, isId } from './scope.js';
import { toQueueEntry } from './session-view.js';
import type { Transactions } from './unit-of-work.js';

const KEY_TAKEN = 'queue_entry_idempotency_scope_idempotency_key_hash_key';

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
    const tooLong = checkBytes(this.limits, 'prompt_bytes', 'prompt', text);
    if (tooLong) return tooLong;
    const questionId = input.reply_to_question_id?.trim();
    const sessionId = input.session_id ?? null;
    if (questionId) {
      const answer = { questionId, taskId, sessionId, text };
      return refusalOf(this.transactions.run((unit) => answerQuestion(unit, actor, answer)));
    }
    if (!isId(taskId)) return refuse('NOT_FOUND');
    const message = { taskId, sessionId, text, mode: input.delivery_mode, key: input.idempotency_key ?? null };
    return this.#oncePerKey(() => this.transactions.run((unit) => deliverMessage(unit, this.limits, actor, message)));
  }

  /** A delivery. Its text is shown to operators, to the sender's task and to the receiver's; others see that it exists. */
  async getDelivery(actor: Actor, id: string): Promise<Outcome<QueueEntry>> {
    const entry = inScope(actor, isId(id) ? await findEntry(this.database, id) : null);
    if (isRefusal(entry)) return entry;
    const shown = toQueueEntry(entry);
    if (actor.kind === 'operator' || entry.sender_task_id === actor.taskId) return shown;
    const receiver = await findSession(this.database, entry.session_id);
    return receiver?.task_id === actor.taskId ? shown : { ...shown, text: '' };
  }

  /** Two calls under one key to different tasks hold no common lock: the one that the unique index stops finds the other's delivery. */
  async #oncePerKey(send: () => Promise<Outcome<SentMessage>>): Promise<Outcome<SentMessage>> {
    try {
      return await send();
    } catch (error) {
      if (violatedConstraint(error) !== KEY_TAKEN) throw error;
      return send();
    }
  }
}
