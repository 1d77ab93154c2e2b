/**
 * The one door to Postgres.
 *
 * D1  Every statement of a transaction goes through its `Tx`, never through the pool (K4).
 * D2  A serialization failure, a deadlock or `ChangedMeanwhile` runs the whole transaction again, at most `ATTEMPTS` times (K11).
 * D3  Ordinary reads may use Prisma; it shares the pool and never takes part in a `Tx`.
 * D4  Statements of a transaction run in the order in which they were given, and travel together as far as nobody awaits one in between.
 */
import { PrismaPg } from '@prisma/adapter-pg';
import pg from 'pg';
import { PrismaClient } from './generated/client.js';
import { type Connection, give, isStalePlan } from './statement.js';
import { Transaction } from './transaction.js';

const ATTEMPTS = 5;
const RETRYABLE = new Set(['40001', '40P01']);

/** What a transaction read before its locks has changed since: the whole transaction runs again (K11). */
export class ChangedMeanwhile extends Error {
  constructor(what: string) {
    super(`${what} changed while it was locked`);
    this.name = 'ChangedMeanwhile';
  }
}

/** Rows that a statement returns; a caller names their shape. */
export type Values = readonly unknown[];

/** The handle of one transaction, or of the pool for a single statement. */
export interface Tx {
  query<Row extends object>(text: string, values?: Values): Promise<readonly Row[]>;
}

/** A transaction that is open. */
export interface OpenTx extends Tx {
  /** Gives a statement whose answer nobody needs; if it fails, so does the commit. */
  send(text: string, values?: Values): void;
}

export class Database implements Tx {
  readonly prisma: PrismaClient;

  constructor(private readonly pool: pg.Pool) {
    this.prisma = new PrismaClient({ adapter: new PrismaPg(pool) });
  }

  /** One statement, outside any transaction. */
  query<Row extends object>(text: string, values: Values = []): Promise<readonly Row[]> {
    return this.together((tx) => tx.query<Row>(text, values));
  }

  /** Reads that are asked for at once and travel together, outside any transaction: each sees what is committed when its turn comes. */
  async together<T>(read: (tx: Tx) => Promise<T>): Promise<T> {
    for (;;) {
      const client = (await this.pool.connect()) as Connection;
      let failure: Error | undefined;
      try {
        return await read({
          query: async <Row extends object>(text: string, values: Values = []) => (await give<Row>(client, text, values)).rows,
        });
      } catch (error) {
        failure = error as Error;
        if (!isStalePlan(error)) throw error;
      } finally {
        client.release(failure);
      }
    }
  }

  /** Runs `work` in one READ COMMITTED transaction; throws what `work` throws, after a rollback. */
  async transaction<T>(work: (tx: OpenTx) => Promise<T>): Promise<T> {
    let attempt = 1;
    for (;;) {
      try {
        return await this.attempt(work);
      } catch (error) {
        if (isStalePlan(error)) continue;
        if (!isRetryable(error) || ++attempt > ATTEMPTS) throw error;
      }
    }
  }

  private async attempt<T>(work: (tx: OpenTx) => Promise<T>): Promise<T> {
    const client = (await this.pool.connect()) as Connection;
    const tx = new Transaction(client);
    let broken: Error | undefined;
    try {
      const value = await work(tx);
      await tx.commit();
      return value;
    } catch (error) {
      if (isStalePlan(error)) broken = error;
      await tx.rollback().catch((rollbackError: Error) => (broken = rollbackError));
      throw error;
    } finally {
      client.release(broken);
    }
  }

  /** Ends Prisma and the pool; statements that run finish first. */
  async close(): Promise<void> {
    await this.prisma.$disconnect();
    await this.pool.end();
  }
}

function isRetryable(error: unknown): boolean {
  return error instanceof ChangedMeanwhile || (error instanceof pg.DatabaseError && RETRYABLE.has(error.code ?? ''));
}

/** Whether a statement was ended because it took longer than its transaction allows. */
export function isStatementTimeout(error: unknown): boolean {
  return error instanceof pg.DatabaseError && error.code === '57014';
}

/** Name of the constraint or index that a statement violated, or `null` for any other error. */
export function violatedConstraint(error: unknown): string | null {
  return error instanceof pg.DatabaseError && error.code?.startsWith('23') ? (error.constraint ?? null) : null;
}
