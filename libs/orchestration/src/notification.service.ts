import type { Notification, Page, PageQuery } from '@echelon/contracts';
import { isRefusal, refuse } from '@echelon/domain';
import { acknowledgeNotification, type Database, insertAudit, listNotifications, type NotificationRow } from '@echelon/persistence';
import { type Actor, actorName } from './actor.js';
import type { Outcome } from './outcome.js';
import { pageByCreation, readPageByCreation } from './page.js';
import { isId, operatorOnly } from './scope.js';
import type { Transactions } from './unit-of-work.js';

export type ListNotifications = PageQuery & { readonly workspace_id?: string | undefined; readonly all?: boolean | undefined };

/** What operators are told: once per question that nobody answers (S7). */
export class NotificationService {
  constructor(
    private readonly database: Database,
    private readonly transactions: Transactions,
  ) {}

  /** Notifications from new to old; those that were acknowledged only with `all`. */
  async list(actor: Actor, query: ListNotifications): Promise<Outcome<Page<Notification>>> {
    const operator = operatorOnly(actor);
    if (isRefusal(operator)) return operator;
    const page = readPageByCreation(query);
    if (isRefusal(page)) return page;
    if (query.workspace_id !== undefined && !isId(query.workspace_id)) return refuse('NOT_FOUND', { field: 'workspace_id' });
    const filter = { workspaceId: query.workspace_id ?? null, open: query.all !== true };
    return pageByCreation(await listNotifications(this.database, filter, page), query.limit, toNotification);
  }

  /** Marks a notification as seen; again, it changes nothing. */
  async acknowledge(actor: Actor, id: string): Promise<Outcome<Notification>> {
    const operator = operatorOnly(actor);
    if (isRefusal(operator)) return operator;
    return this.transactions.run(async (unit) => {
      const acknowledged = isId(id) ? await acknowledgeNotification(unit, id, actorName(actor)) : null;
      if (!acknowledged) return refuse('NOT_FOUND');
      const { row, changed } = acknowledged;
      if (changed) {
        await insertAudit(unit, {
          workspaceId: row.workspace_id,
          actor: actorName(actor),
          action: 'notification.acknowledge',
          subject: id,
        });
        await unit.tell({
          workspaceId: row.workspace_id,
          type: 'notification.acknowledged',
          taskId: row.task_id,
          sessionId: row.session_id,
          data: { notification_id: id },
        });
      }
      return toNotification(row);
    });
  }
}

function toNotification(row: NotificationRow): Notification {
  return {
    id: row.id,
    reason: row.reason,
    task_id: row.task_id,
    session_id: row.session_id,
    question_id: row.question_id,
    created_at: row.created_at.toISOString(),
    acknowledged_at: row.acknowledged_at?.toISOString() ?? null,
  };
}
