/** What an operator changes in a queue while its entries wait (contract §8). */
import type { Predictions } from './authority.js';
import { type Entry, type EntryKind, type Model, named, queued } from './model.js';
import { rearrange } from './places.js';

const REMOVED: readonly EntryKind[] = ['prompt', 'alert'];
const MOVED: readonly EntryKind[] = ['prompt', 'alert', 'question', 'reminder'];

export const QUEUES: Predictions<'edit_entry' | 'move_entry' | 'remove_entry'> = {
  edit_entry(m, { name, session, entry: at, revision }) {
    const entry = entryOf(m, session, at);
    const refusal = refuseChange(entry, ['prompt']);
    if (refusal) return refusal;
    if (entry.from !== 'operator') return 'FORBIDDEN';
    if (entry.revision !== revision) return 'CONFLICT';
    Object.assign(entry, { words: name, revision: revision + 1 });
    return 'edited';
  },

  move_entry(m, { session: name, entry: at, before }) {
    const session = named(m.sessions, name);
    const entry = entryOf(m, name, at);
    const refusal = refuseChange(entry, MOVED);
    if (refusal) return refusal;
    if (before === at) return 'moved';
    const waiting = queued(session).filter(({ rank }) => rank === entry.rank);
    const others = waiting.filter((one) => one !== entry);
    const to = before === null ? others.length : others.indexOf(entryOf(m, name, before));
    if (to < 0) return 'INVALID_INPUT';
    const places = waiting.map((one) => session.entries.indexOf(one));
    const wanted = others.toSpliced(to, 0, entry);
    rearrange(m, () => wanted.forEach((one, index) => (session.entries[places[index] ?? -1] = one)));
    return 'moved';
  },

  remove_entry(m, { session, entry: at }) {
    const entry = entryOf(m, session, at);
    if (!REMOVED.includes(entry.kind)) return 'FORBIDDEN';
    if (entry.state !== 'queued') return 'ENTRY_NOT_QUEUED';
    entry.state = 'cancelled';
    return 'removed';
  },
};

function entryOf(m: Model, session: string, at: number): Entry {
  const entry = named(m.sessions, session).entries[at];
  if (!entry) throw new Error(`the model has no entry ${at} of ${session}`);
  return entry;
}

function refuseChange(entry: Entry, kinds: readonly EntryKind[]): string | null {
  if (!kinds.includes(entry.kind)) return 'FORBIDDEN';
  return entry.state === 'queued' ? null : 'ENTRY_NOT_QUEUED';
}
