/** How Postgres finds the questions that wait: beside them the conversations of a deployment may have millions of messages. */
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { createPool, Database, readQuestions, type QuestionFilter, type Tx } from '@echelon/persistence';
import { createTestDatabase, type TestDatabase } from '@echelon/testkit';

const FILTER: QuestionFilter = {
  types: ['parent_question', 'user_question'],
  workspaceId: null,
  taskId: null,
  involving: null,
  status: 'pending',
};

let storage: TestDatabase;
let database: Database;

beforeAll(async () => {
  storage = await createTestDatabase();
  database = new Database(createPool(storage.url, { max: 2 }));
});
afterAll(async () => {
  await database.close();
  await storage.drop();
});

/** The plan of the page's statement, where tables are too large to be read from end to end. */
async function explainPage(filter: QuestionFilter): Promise<string> {
  return database.transaction(async (tx) => {
    await tx.query('SET LOCAL enable_seqscan = off');
    let plan = '';
    const explaining: Tx = {
      query: async (text, values) => {
        const lines = await tx.query<{ 'QUERY PLAN': string }>(`EXPLAIN ${text}`, values);
        plan = lines.map((line) => line['QUERY PLAN']).join('\n');
        return [];
      },
    };
    await readQuestions(explaining, filter, { take: 50, after: null });
    return plan;
  });
}

test.each([
  ['parent_question', /message_(one_pending_parent_question|pending_question_by_parent)/],
  ['user_question', /message_pending_user_question/],
] as const)('a page of pending questions finds each %s by an index of those', async (type, index) => {
  expect(await explainPage({ ...FILTER, types: [type] })).toMatch(index);
  expect(await explainPage(FILTER)).toMatch(index);
});

test('a page of all questions does without the indexes of pending ones', async () => {
  expect(await explainPage({ ...FILTER, status: null })).not.toMatch(/message_(one_)?pending/);
});
