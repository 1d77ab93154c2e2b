/** Places in queues, which what was told and what opened turns refer to, while entries change theirs. */
import type { Entry, Model, Place } from './model.js';

/** Makes a change that puts entries into other places or queues; what refers to them follows. */
export function rearrange(m: Model, change: () => void): void {
  const opened = m.sessions.flatMap(({ entries, turns }) => turns.map((turn) => ({ turn, entry: entries[turn.entry] })));
  const told = m.questions.map((question) => ({
    question,
    told: entryAt(m, question.told),
    reminder: question.reminder && entryAt(m, question.reminder),
  }));
  change();
  for (const { turn, entry } of opened) if (entry) turn.entry = placeOf(m, entry).entry;
  for (const { question, told: tells, reminder } of told)
    Object.assign(question, { told: placeOf(m, tells), reminder: reminder && placeOf(m, reminder) });
}

function entryAt(m: Model, { session, entry }: Place): Entry {
  const found = m.sessions.find(({ name }) => name === session)?.entries[entry];
  if (!found) throw new Error(`the model has no entry ${entry} of ${session}`);
  return found;
}

function placeOf(m: Model, entry: Entry): Place {
  const session = m.sessions.find(({ entries }) => entries.includes(entry));
  if (!session) throw new Error('the model lost an entry');
  return { session: session.name, entry: session.entries.indexOf(entry) };
}
