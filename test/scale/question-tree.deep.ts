/**
 * A large tree whose agents ask their parents, who ask theirs, on the whole product in this process. `ECHELON_SCALE=full` makes it
 * 10,000 tasks with 5,000 questions; without it the same tree is small enough to end within minutes on two cores.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, expect, jest, test } from '@jest/globals';
import { newId } from '@echelon/persistence';
import { createPlatform, type Platform, readConfig } from '@echelon/platform';
import { startScriptedModel } from '@echelon/scripted-model';
import { createTestDatabase } from '@echelon/testkit';
import { findViolations } from '../support/invariants.js';
import { climb } from './climbing-script.js';
import { QuestionTree, type TreeSize } from './question-tree.js';

const FULL: TreeSize = { tasks: 10_000, levels: 12, questions: 5_000 };
const SMALL: TreeSize = { tasks: 1_000, levels: 12, questions: 500 };
const isFull = process.env.ECHELON_SCALE === 'full';
const size = isFull ? FULL : SMALL;

jest.setTimeout(isFull ? 3_600_000 : 900_000);

let closing: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closing.toReversed()) await close();
  closing = [];
});

test(`each of ${size.questions} questions relayed in a tree of ${size.tasks} tasks in ${size.levels} levels gets its answer exactly once`, async () => {
  const platform = await openPlatform();
  const { services, database } = platform;
  const operator = { kind: 'operator', tokenId: newId(), operatorId: newId(), name: 'Ada' } as const;
  const workspace = await services.workspaces.create(operator, { name: 'scale' });
  if (!('id' in workspace)) throw new Error('no workspace');
  const profile = await services.profiles.create(operator, {
    ...{ workspace_id: workspace.id, name: 'agent', runtime: 'loop', provider: 'scripted', model: 'scripted', system_prompt: '' },
    ...{ max_output_tokens: null, context_window: null, fallback_models: [], budgets: {}, hooks: {} },
    ...{ parent_question_timeout_seconds: null, user_question_timeout_seconds: null },
  });
  if (!('id' in profile)) throw new Error('no profile');
  const tree = new QuestionTree(platform, operator, size);
  expect(tree.levels).toBe(size.levels);
  await tree.grow({ workspace_id: workspace.id, profile_id: profile.id });
  await tree.climb();
  expect(await tree.listFaults()).toEqual([]);
  expect(await findViolations(database)).toEqual({});
});

async function openPlatform(): Promise<Platform> {
  const storage = await createTestDatabase();
  closing.push(() => storage.drop());
  const folder = mkdtempSync(path.join(tmpdir(), 'echelon-scale-'));
  closing.push(() => rmSync(folder, { recursive: true, force: true }));
  const model = await startScriptedModel({ script: (request) => climb(request) ?? { text: 'That is done.' }, record: false });
  closing.push(() => model.close());
  const settings = {
    DATABASE_URL: storage.url,
    ECHELON_DATA_DIR: folder,
    ECHELON_SCRIPTED_MODEL_URL: model.url,
    ECHELON_LOG_LEVEL: 'error',
    ECHELON_LIMIT_CREATES_PER_TREE_MINUTE: String(size.tasks),
  };
  const platform = await createPlatform(readConfig(settings), { worker: true });
  closing.push(() => platform.close());
  return platform;
}
