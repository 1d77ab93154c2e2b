/** A dump that is made in the middle of the story, restored elsewhere and prepared by `echelon restore`: the story goes on from there. */
import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { createApiClient } from '@echelon/api-client';
import { startProgram, type TestDatabase, waitFor } from '@echelon/testkit';
import { afterAll, beforeAll, expect, jest, test } from '@jest/globals';
import { type ExternalPostgres, openExternalPostgres } from '../support/external-postgres.js';
import { findViolations } from '../support/invariants.js';
import { GREETING, PARENT_RESULT, STEPS, storyScript } from './story-script.js';
import { StoryWorld } from './story-world.js';

jest.setTimeout(240_000);

let postgres: ExternalPostgres;
let folder: string;

beforeAll(async () => {
  postgres = await openExternalPostgres();
  folder = mkdtempSync(path.join(tmpdir(), 'echelon-restore-'));
});
afterAll(async () => {
  await postgres.stop();
  rmSync(folder, { recursive: true, force: true });
});

function dumpAndRestore(binaries: string, from: TestDatabase, to: TestDatabase): void {
  const file = path.join(folder, 'echelon.dump');
  execFileSync(path.join(binaries, 'pg_dump'), ['--format=custom', '--no-privileges', `--file=${file}`, from.url]);
  execFileSync(path.join(binaries, 'pg_restore'), ['--no-privileges', '--no-owner', `--dbname=${to.url}`, file]);
}

/** Opens the story on a database; all of them share the folders of the tasks and the keys. */
function openWorld(storage: TestDatabase, steps: Partial<typeof STEPS>): Promise<StoryWorld> {
  return StoryWorld.open(storyScript(steps), { storage, settings: { ECHELON_DATA_DIR: path.join(folder, 'data') } });
}

test('a restored dump interrupts what ran, keeps the question, refuses old tokens, and the story ends [O17]', async () => {
  if (!postgres.binaries) return process.stderr.write(`not played: ${postgres.name} has no pg_dump at hand\n`);
  const answer: typeof STEPS.answer = (...args) => ({ ...STEPS.answer(...args), faults: [{ kind: 'silence', afterChunks: 0 }] });
  const lost = await openWorld(await postgres.createDatabase(), { answer });
  const first = await lost.startNode();
  const root = await lost.begin(first.api);
  const asked = `SELECT 1 FROM message q JOIN queue_entry e ON e.question_id = q.id AND e.state = 'delivered' WHERE q.metadata->>'status' = 'pending'`;
  await waitFor('the parent reads the question', () => lost.one(asked), 60);
  const storage = await postgres.createDatabase();
  dumpAndRestore(postgres.binaries, lost.storage, storage);
  await first.program.kill();
  const oldToken = lost.operatorToken();

  const world = await openWorld(storage, {});
  const restoring = startProgram('apps/cli/bin/echelon.mjs', { args: ['restore', '--json'], env: world.env });
  const report = JSON.parse(await restoring.line(/^\{/)) as { readonly interrupted_turns: number; readonly token: string };
  expect(report).toMatchObject({ interrupted_turns: 1, revoked_tokens: 1 });
  expect(await restoring.exited).toEqual({ code: 0, signal: null });

  const second = await world.startNode();
  const refused = createApiClient({ baseUrl: second.url, token: oldToken }).tasks.get(root.id);
  await expect(refused).rejects.toMatchObject({ code: 'UNAUTHENTICATED' });
  expect((await second.api.tasks.get(root.id)).id).toBe(root.id);
  await world.untilEnded(root.id);
  expect(await world.one('SELECT state, result FROM task WHERE id = $1', [root.id])).toEqual({ state: 'completed', result: PARENT_RESULT });
  expect(await world.rows(`SELECT metadata->>'status' AS status FROM message WHERE type = 'parent_question'`)).toEqual([
    { status: 'answered' },
  ]);
  expect(await world.rows(`SELECT count(*)::int AS count FROM turn WHERE outcome = 'interrupted'`)).toEqual([{ count: 1 }]);
  expect(world.readFile(root)).toBe(GREETING);
  expect(await findViolations(world.database)).toEqual({});
  await world.close();
  await lost.close();
});
