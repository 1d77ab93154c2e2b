import type { OpenTx, Values } from './database.js';
import { type Connection, give } from './statement.js';

/**
 * One transaction on one connection; it begins with its first statement.
 *
 * X1  Once it is over it takes no more statements: of work that is done at once, one part may fail while another goes on.
 */
export class Transaction implements OpenTx {
  readonly #sent: Promise<unknown>[] = [];
  #over = false;

  constructor(private readonly client: Connection) {
    this.send('BEGIN');
  }

  async query<Row extends object>(text: string, values: Values = []): Promise<readonly Row[]> {
    this.#refuseWhenOver();
    const answered = give<Row>(this.client, text, values);
    this.#keep(answered);
    try {
      return (await answered).rows;
    } catch {
      throw await this.#firstFailure();
    }
  }

  send(text: string, values: Values = []): void {
    this.#refuseWhenOver();
    this.#keep(give(this.client, text, values));
  }

  /** Rejects with the first failure of any statement; then nothing was committed. */
  async commit(): Promise<void> {
    this.send('COMMIT');
    this.#over = true;
    await Promise.all(this.#sent);
  }

  async rollback(): Promise<void> {
    this.#over = true;
    await give(this.client, 'ROLLBACK', []);
  }

  #refuseWhenOver(): void {
    if (this.#over) throw new Error('the transaction is over');
  }

  /** Whoever awaits a statement hears of its failure, or the commit does. */
  #keep(answered: Promise<unknown>): void {
    answered.catch(() => undefined);
    this.#sent.push(answered);
  }

  /** What fails after it only says that the transaction is aborted. */
  async #firstFailure(): Promise<unknown> {
    for (const answered of this.#sent) {
      const failure = await answered.then(
        () => null,
        (error: Error) => error,
      );
      if (failure) return failure;
    }
    return null;
  }
}
