/** Dying at a named commit: how a spec tells a process when to kill itself, and how the process does it. The product knows nothing of it. */
import pg from 'pg';

/** The first commits of transactions that ran a matching statement; `when` is relative to the commit. */
export interface KillPoint {
  /** A regular expression over the statement and, line by line, its values. */
  readonly statement: string;
  readonly when: 'before' | 'after';
}

export const KILL_VARIABLE = 'ECHELON_TEST_KILL';

/** Has this process kill itself at the point that its environment names, if it names one. */
export function obeyKillPoint(): void {
  const given = process.env[KILL_VARIABLE];
  if (given) dieAt(JSON.parse(given) as KillPoint);
}

function dieAt({ statement, when }: KillPoint): void {
  const pattern = new RegExp(statement);
  const doomed = new WeakSet<object>();
  const query = pg.Client.prototype.query as (this: pg.Client, ...args: unknown[]) => unknown;
  const watched = function (this: pg.Client, ...args: unknown[]): unknown {
    const text = textOf(args);
    if (text === 'BEGIN' || text === 'ROLLBACK') doomed.delete(this);
    else if (text === 'COMMIT' && doomed.has(this))
      return when === 'before' ? die() : (query.apply(this, args) as Promise<unknown>).then(die);
    else if (pattern.test(text)) doomed.add(this);
    return query.apply(this, args);
  };
  pg.Client.prototype.query = watched as typeof pg.Client.prototype.query;
}

/** A statement line by line with its values, as it was given by itself or with its name. */
function textOf([given, values]: readonly unknown[]): string {
  if (typeof given === 'string') return [given, ...asList(values)].join('\n');
  const { text, values: own } = given as { readonly text?: string; readonly values?: unknown };
  return [text ?? '', ...asList(own)].join('\n');
}

function asList(values: unknown): readonly unknown[] {
  return Array.isArray(values) ? (values as readonly unknown[]) : [];
}

/** SIGKILL to oneself takes effect before the call returns: nothing of this process runs after it. */
function die(): never {
  process.kill(process.pid, 'SIGKILL');
  throw new Error('a killed process ran on');
}
