import type { IssuedToken, IssueToken, Page, PageQuery, Token } from '@echelon/contracts';
import type { Database } from '@echelon/persistence';
import type { Actor } from './actor.js';
import type { Outcome } from './outcome.js';
import type { Transactions } from './unit-of-work.js';

/** Bearer tokens of operators and of sessions; only their SHA-256 is stored. */
export class TokenService {
  constructor(
    private readonly database: Database,
    private readonly transactions: Transactions,
  ) {}

  issue(actor: Actor, input: IssueToken): Promise<Outcome<IssuedToken>> {
    throw new Error(`not built: ${String([this.database, this.transactions, actor, input])}`);
  }

  list(actor: Actor, query: PageQuery): Promise<Outcome<Page<Token>>> {
    throw new Error(`not built: ${String([actor, query])}`);
  }

  revoke(actor: Actor, id: string): Promise<Outcome<Token>> {
    throw new Error(`not built: ${String([actor, id])}`);
  }

  /** Whose token this is; `null` when it is unknown, revoked, expired, or its session has ended. */
  authenticate(secret: string): Promise<{ readonly actor: Actor; readonly tokenId: string } | null> {
    throw new Error(`not built: ${secret.length}`);
  }

  /** Creates the operator and its first token; `null` when the operator exists already. */
  bootstrapOperator(name: string): Promise<{ readonly secret: string; readonly token: Token } | null> {
    throw new Error(`not built: ${name}`);
  }
}
