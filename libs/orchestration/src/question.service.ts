import type { AnswerUserQuestion, AskedParent, AskQuestions, Page, PageQuery, ParentQuestion, UserQuestion } from '@echelon/contracts';
import { isRefusal, type Limits, refuse } from '@echelon/domain';
import { type Database, readQuestion, readQuestionChain, readQuestions, type QuestionView } from '@echelon/persistence';
import type { Actor, AgentActor, OperatorActor } from './actor.js';
import { askParent } from './ask-parent.js';
import { answerUser, askUser, cancelUser } from './ask-user.js';
import { type Outcome, refusalOf } from './outcome.js';
import { pageByCreation, readPageByCreation } from './page.js';
import { toParentQuestion, toQuestion } from './question-view.js';
import { inScope, isId } from './scope.js';
import type { Transactions } from './unit-of-work.js';

export type ListQuestions = PageQuery & {
  readonly kind?: 'parent' | 'user' | undefined;
  readonly task_id?: string | undefined;
  readonly status?: string | undefined;
};

const TYPES = { parent: ['parent_question'], user: ['user_question'] } as const;

/** Questions of agents: to their parent, and to the operator. A parent question is answered through `MessageService.send`. */
export class QuestionService {
  constructor(
    private readonly database: Database,
    private readonly transactions: Transactions,
    private readonly limits: Limits,
  ) {}

  /**
   * Asks the direct parent and returns at once (A1). `key` identifies the call: the same key gives the same question (A2), and
   * IDEMPOTENCY_MISMATCH for another one. Refuses with NOT_AUTOPILOT, NO_PARENT, WRONG_SESSION_KIND, PARENT_UNAVAILABLE,
   * TURN_ENDED_BY_QUESTION, LIMIT_EXCEEDED; then nothing is stored.
   */
  askParent(actor: AgentActor, input: AskQuestions, key: string): Promise<Outcome<AskedParent>> {
    return refusalOf(this.transactions.run((unit) => askParent(unit, this.limits, actor, { input, key })));
  }

  /** Asks the operator (V4): the question waits, and with it the turn that asked. Refuses with TOOL_NOT_OFFERED where the contract has no such tool. */
  askUser(actor: AgentActor, input: AskQuestions, key: string): Promise<Outcome<UserQuestion>> {
    return refusalOf(this.transactions.run((unit) => askUser(unit, this.limits, actor, { input, key })));
  }

  /** Answers or rejects an operator question; the second of two operators gets the first one's decision, with `claimed: false`. */
  async answerUser(
    actor: OperatorActor,
    id: string,
    input: AnswerUserQuestion,
  ): Promise<Outcome<UserQuestion & { readonly claimed: boolean }>> {
    const found = isId(id) ? await readQuestion(this.database, id) : null;
    if (found?.type === 'parent_question') return refuse('QUESTION_NOT_YOURS');
    return refusalOf(this.transactions.run((unit) => answerUser(unit, this.limits, actor, { id, input })));
  }

  /** Takes an operator question back: whoever asked goes on without an answer. One that is decided stays so, with `claimed: false`. */
  async cancelUser(actor: OperatorActor, id: string): Promise<Outcome<UserQuestion & { readonly claimed: boolean }>> {
    const found = isId(id) ? await readQuestion(this.database, id) : null;
    if (found?.type === 'parent_question') return refuse('QUESTION_NOT_YOURS');
    return refusalOf(this.transactions.run((unit) => cancelUser(unit, actor, id)));
  }

  /** A question of either kind. An agent sees those that its task asked or was asked. */
  async get(actor: Actor, id: string): Promise<Outcome<ParentQuestion | UserQuestion>> {
    const found = await this.#find(actor, id);
    return isRefusal(found) ? found : toQuestion(found);
  }

  /** The same with `chain`: the hops of a parent question in their order (R14); a question to operators has none. */
  async getWithChain(
    actor: Actor,
    id: string,
  ): Promise<Outcome<(ParentQuestion | UserQuestion) & { readonly chain: readonly ParentQuestion[] }>> {
    const found = await this.#find(actor, id);
    return isRefusal(found) ? found : { ...toQuestion(found), chain: await this.#hops(actor, found) };
  }

  /** Questions of one kind or of both, from new to old. An agent sees those that its task asked or was asked. */
  async list(actor: Actor, query: ListQuestions): Promise<Outcome<Page<ParentQuestion | UserQuestion>>> {
    const page = readPageByCreation(query);
    if (isRefusal(page)) return page;
    if (query.task_id !== undefined && !isId(query.task_id)) return refuse('NOT_FOUND', { field: 'task_id' });
    const rows = await readQuestions(
      this.database,
      {
        types: query.kind ? TYPES[query.kind] : [...TYPES.parent, ...TYPES.user],
        workspaceId: actor.kind === 'agent' ? actor.workspaceId : null,
        taskId: query.task_id ?? null,
        involving: actor.kind === 'agent' ? actor.taskId : null,
        status: query.status ?? null,
      },
      page,
    );
    return pageByCreation(rows, query.limit, toQuestion);
  }

  /** The hops of a parent question, from the question that began the chain to the topmost one (R14). */
  async chain(actor: Actor, id: string): Promise<Outcome<{ readonly hops: readonly ParentQuestion[] }>> {
    const found = await this.#find(actor, id);
    if (isRefusal(found)) return found;
    if (found.type !== 'parent_question') return refuse('NOT_FOUND');
    return { hops: await this.#hops(actor, found) };
  }

  async #hops(actor: Actor, { id, type }: QuestionView): Promise<readonly ParentQuestion[]> {
    const hops = type === 'parent_question' ? await readQuestionChain(this.database, id) : [];
    return hops.flatMap((hop) => (hop.type === 'parent_question' && sees(actor, hop) ? [toParentQuestion(hop)] : []));
  }

  async #find(actor: Actor, id: string): Promise<Outcome<QuestionView>> {
    const found = inScope(actor, isId(id) ? await readQuestion(this.database, id) : null);
    if (isRefusal(found)) return found;
    return sees(actor, found) ? found : refuse('NOT_FOUND');
  }
}

/** An agent sees the questions of its own task, and those that its task was asked. */
function sees(actor: Actor, question: QuestionView): boolean {
  if (actor.kind === 'operator' || question.task_id === actor.taskId) return true;
  return question.type === 'parent_question' && question.metadata.parent_task_id === actor.taskId;
}
