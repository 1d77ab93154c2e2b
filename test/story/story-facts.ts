/** What is true of a story that came to its end, whatever was killed on the way: read from the rows. */
import type { Task } from '@echelon/contracts';
import { expect } from '@jest/globals';
import { findViolations } from '../support/invariants.js';
import { CHILD_RESULT, GREETING, PARENT_RESULT } from './story-script.js';
import type { StoryWorld } from './story-world.js';

interface EntryFact {
  readonly task: string;
  readonly kind: string;
  readonly state: string;
  readonly turns: number;
}

/** The whole queue of the story: each entry was delivered once, and opened exactly one turn. */
const ENTRIES: readonly EntryFact[] = [
  { task: 'The greeting', kind: 'answer', state: 'delivered', turns: 1 },
  { task: 'The greeting', kind: 'prompt', state: 'delivered', turns: 1 },
  { task: 'The parent', kind: 'alert', state: 'delivered', turns: 1 },
  { task: 'The parent', kind: 'prompt', state: 'delivered', turns: 1 },
  { task: 'The parent', kind: 'question', state: 'delivered', turns: 1 },
];

/** Two tasks that completed, one question that was answered once, five entries with one turn each, and no offended invariant. */
export async function expectWholeStory(world: StoryWorld, root: Task): Promise<void> {
  expect(await world.rows('SELECT title, state, result FROM task WHERE id = $1 OR parent_id = $1 ORDER BY depth', [root.id])).toEqual([
    { title: 'The parent', state: 'completed', result: PARENT_RESULT },
    { title: 'The greeting', state: 'completed', result: CHILD_RESULT },
  ]);
  expect(await world.rows(`SELECT metadata->>'status' AS status FROM message WHERE type = 'parent_question'`)).toEqual([
    { status: 'answered' },
  ]);
  expect(await readEntries(world, root)).toEqual(ENTRIES);
  const turns =
    'SELECT t.id FROM turn t JOIN session s ON s.id = t.session_id JOIN task ON task.id = s.task_id WHERE $1 IN (task.id, task.parent_id)';
  expect(await world.rows(turns, [root.id])).toHaveLength(ENTRIES.length);
  expect(world.readFile(root)).toBe(GREETING);
  expect(await findViolations(world.database)).toEqual({});
}

/** Every queue entry of the two tasks, with the number of turns that it opened. */
export function readEntries(world: StoryWorld, root: Task): Promise<readonly EntryFact[]> {
  return world.rows<EntryFact>(
    `SELECT t.title AS task, e.kind, e.state, (SELECT count(*)::int FROM turn WHERE opening_entry_id = e.id) AS turns
     FROM queue_entry e JOIN session s ON s.id = e.session_id JOIN task t ON t.id = s.task_id
     WHERE $1 IN (t.id, t.parent_id) ORDER BY t.title, e.kind`,
    [root.id],
  );
}
