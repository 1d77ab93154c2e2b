/** What operators change in a session's queue while its entries wait. Taking one out, pausing and resuming are the session's. */
import type { EditQueueEntry, MoveQueueEntry, QueueEntry } from '@echelon/contracts';
import { canonicalText, CHANGEABLE, isRefusal, type Limits, type QueueChange, refuse } from '@echelon/domain';
import {
  editEntry,
  findEntry,
  insertAudit,
  listQueuedOfRank,
  lockSessions,
  type QueueEntryRow,
  reorderEntries,
  type SessionRow,
} from '@echelon/persistence';
import { type Actor, actorName } from './actor.js';
import { checkBytes } from './limit-checks.js';
import type { Outcome } from './outcome.js';
import { isId, operatorOnly } from './scope.js';
import { followChange } from './session-queue.js';
import { toQueueEntry } from './session-view.js';
import type { Transactions, Unit } from './unit-of-work.js';

export interface EntryPlace {
  readonly sessionId: string;
  readonly entryId: string;
}

interface Held {
  readonly session: SessionRow;
  readonly entry: QueueEntryRow;
}

export class QueueService {
  constructor(
    private readonly transactions: Transactions,
    private readonly limits: Limits,
  ) {}

  /**
   * Replaces the text of an operator's message that still waits. The same text again changes nothing; another revision than the
   * entry's is a CONFLICT. A task's message is never edited: it would speak in that task's name.
   */
  async edit(actor: Actor, place: EntryPlace, { text: given, revision }: EditQueueEntry): Promise<Outcome<QueueEntry>> {
    const text = canonicalText(given);
    return this.#change(actor, place, 'edit', async (unit, { entry }) => {
      if (entry.sender_kind !== 'operator') return refuse('FORBIDDEN', { sender_kind: entry.sender_kind });
      if (entry.text === text) return toQueueEntry(entry);
      const tooLong = checkBytes(this.limits, 'prompt_bytes', 'text', text);
      if (tooLong) return tooLong;
      const edited = await editEntry(unit, entry.id, { text, revision });
      if (!edited) return refuse('CONFLICT', { revision: entry.revision });
      await record(unit, actor, edited, 'entry.edit');
      return toQueueEntry(edited);
    });
  }

  /** Puts a waiting entry before another of its rank, or behind all of them; where it stands there already nothing changes. */
  async move(actor: Actor, place: EntryPlace, { before }: MoveQueueEntry): Promise<Outcome<QueueEntry>> {
    return this.#change(actor, place, 'move', async (unit, { entry, session }) => {
      const waiting = await listQueuedOfRank(unit, session.id, entry.rank);
      const others = waiting.filter((id) => id !== entry.id);
      if (before === entry.id) return toQueueEntry(entry);
      const index = before === null ? others.length : others.indexOf(before);
      if (index < 0) return refuse('INVALID_INPUT', { field: 'before', rule: 'an entry of the same rank that waits in this queue' });
      const wanted = others.toSpliced(index, 0, entry.id);
      if (wanted.join() === waiting.join()) return toQueueEntry(entry);
      await reorderEntries(unit, wanted);
      await record(unit, actor, entry, 'entry.move');
      return toQueueEntry((await findEntry(unit, entry.id)) ?? entry);
    });
  }

  async #change(
    actor: Actor,
    { sessionId, entryId }: EntryPlace,
    change: QueueChange,
    apply: (unit: Unit, held: Held) => Promise<Outcome<QueueEntry>>,
  ): Promise<Outcome<QueueEntry>> {
    const operator = operatorOnly(actor);
    if (isRefusal(operator)) return operator;
    return this.transactions.run(async (unit) => {
      const [session] = isId(sessionId) ? await lockSessions(unit, [sessionId]) : [];
      const entry = session && isId(entryId) ? await findEntry(unit, entryId) : null;
      if (!session || entry?.session_id !== session.id) return refuse('NOT_FOUND');
      if (!CHANGEABLE[entry.kind][change]) return refuse('FORBIDDEN', { kind: entry.kind });
      if (entry.state !== 'queued') return refuse('ENTRY_NOT_QUEUED', { state: entry.state });
      return apply(unit, { session, entry });
    });
  }
}

async function record(unit: Unit, actor: Actor, entry: QueueEntryRow, action: string): Promise<void> {
  await insertAudit(unit, { workspaceId: entry.workspace_id, actor: actorName(actor), action, subject: entry.id });
  await followChange(unit, [entry]);
}
