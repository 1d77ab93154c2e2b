/** Right, late, duplicate, wrong and foreign answers through every door; the table that it prints is docs/api/answers.md. */
import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { createApiClient } from '@echelon/api-client';
import { isRefusal } from '@echelon/domain';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { type RunningServer, startServer, type TestAgent } from '../support/running-server.js';
import { type Door, DOORS, type Reply } from './doors.js';

const DOCUMENT = path.join(import.meta.dirname, '../../docs/api/answers.md');

let server: RunningServer;

beforeAll(async () => {
  server = await startServer();
});
afterAll(() => server.stop());

/** Four levels of kinship around one pending question. */
interface Family {
  readonly grandparent: TestAgent;
  readonly parent: TestAgent;
  readonly child: TestAgent;
  readonly sibling: TestAgent;
  readonly questionId: string;
}

async function family(): Promise<Family> {
  const grandparent = await server.agent();
  const parent = await server.agent({ parent: grandparent });
  const [child, sibling] = [await server.agent({ parent, autopilot: true }), await server.agent({ parent })];
  const asked = await server.services.questions.askParent(await actorOf(child), { questions: [{ prompt: 'Which database?' }] }, 'call-1');
  if (isRefusal(asked)) throw new Error(asked.code);
  return { grandparent, parent, child, sibling, questionId: asked.question_id };
}

async function actorOf(agent: TestAgent) {
  const caller = await server.services.tokens.authenticate(agent.token);
  if (caller?.actor.kind !== 'agent') throw new Error("the token is no agent's");
  return caller.actor;
}

type Send = (token: string, changes?: Partial<Reply>) => Promise<string>;

interface Case {
  readonly name: string;
  readonly play: (one: Family, send: Send) => Promise<string>;
  readonly expected: string;
  /** What the question is afterwards. */
  readonly leaves: string;
}

const byParent: Case['play'] = ({ parent }, send) => send(parent.token);
const afterAnswer =
  (changes: Partial<Reply>): Case['play'] =>
  async ({ parent }, send) => {
    await send(parent.token);
    return send(parent.token, changes);
  };
const by =
  (who: 'grandparent' | 'sibling' | 'child'): Case['play'] =>
  (one, send) =>
    send(one[who].token);
const naming =
  (changes: (one: Family) => Partial<Reply> | Promise<Partial<Reply>>): Case['play'] =>
  async (one, send) =>
    send(one.parent.token, await changes(one));

async function ordinaryMessage({ child, sibling }: Family): Promise<Partial<Reply>> {
  const { tasks } = createApiClient({ baseUrl: server.url, token: sibling.token });
  const { delivery_id } = await tasks.sendMessage(child.taskId, { prompt: 'Hello.' });
  return { reply_to_question_id: delivery_id };
}

async function clarification({ sibling }: Family): Promise<Partial<Reply>> {
  await server.services.questions.askUser(await actorOf(sibling), { questions: [{ prompt: 'Delete it?' }] }, 'call-2');
  const { items } = await server.client.questions.list({ kind: 'user', task_id: sibling.taskId });
  return { reply_to_question_id: items[0]!.id, task_id: sibling.taskId };
}

const CASES: readonly Case[] = [
  { name: 'the parent’s first [R1]', play: byParent, expected: 'sent', leaves: 'answered' },
  { name: 'the same again [R2]', play: afterAnswer({}), expected: 'already_answered', leaves: 'answered' },
  { name: 'another text after it [R2]', play: afterAnswer({ prompt: 'SQLite.' }), expected: 'already_answered', leaves: 'answered' },
  { name: 'the grandparent’s [R4]', play: by('grandparent'), expected: 'QUESTION_NOT_YOURS', leaves: 'pending' },
  { name: 'a sibling’s [R4]', play: by('sibling'), expected: 'QUESTION_NOT_YOURS', leaves: 'pending' },
  { name: 'the child’s own [R4]', play: by('child'), expected: 'QUESTION_NOT_YOURS', leaves: 'pending' },
  {
    name: 'a stranger’s, of another workspace [R4]',
    play: async (_one, send) => send((await server.agent()).token),
    expected: 'QUESTION_UNKNOWN',
    leaves: 'pending',
  },
  {
    name: 'to an unknown question [R5]',
    play: naming(() => ({ reply_to_question_id: '01a22add-0000-7000-8000-000000000000' })),
    expected: 'QUESTION_UNKNOWN',
    leaves: 'pending',
  },
  { name: 'to a clarification for the operator [R5]', play: naming(clarification), expected: 'QUESTION_UNKNOWN', leaves: 'pending' },
  { name: 'to an ordinary message [R5]', play: naming(ordinaryMessage), expected: 'QUESTION_UNKNOWN', leaves: 'pending' },
  {
    name: 'with another task’s id [R6]',
    play: naming(({ sibling }) => ({ task_id: sibling.taskId })),
    expected: 'QUESTION_TARGET_MISMATCH',
    leaves: 'pending',
  },
  {
    name: 'with another session’s id [R6]',
    play: naming(({ sibling }) => ({ session_id: sibling.sessionId })),
    expected: 'QUESTION_TARGET_MISMATCH',
    leaves: 'pending',
  },
  {
    name: 'after a superseding prompt [R7]',
    async play({ parent, child }, send) {
      await server.client.tasks.sendMessage(child.taskId, { prompt: 'Never mind.' });
      return send(parent.token);
    },
    expected: 'QUESTION_NOT_PENDING',
    leaves: 'superseded',
  },
  {
    name: 'after the child was archived [R7]',
    async play({ parent, child }, send) {
      await server.client.tasks.archive(child.taskId);
      return send(parent.token);
    },
    expected: 'QUESTION_NOT_PENDING',
    leaves: 'stale',
  },
];

/** An operator has no agent's loop and no agent's tools. */
const OPERATOR: Case = {
  name: 'the operator’s [R4, V3]',
  play: (_one, send) => send(server.token),
  expected: 'QUESTION_NOT_YOURS',
  leaves: 'pending',
};

const table: string[][] = [];

/** Plays a case through a door; what the sender was told, once the question is as it must be and no answer was delivered that should not be. */
async function play(door: Door, { play: run, leaves }: Case): Promise<string> {
  const one = await family();
  const answered = await run(one, (token, changes = {}) =>
    door(server, token, { task_id: one.child.taskId, reply_to_question_id: one.questionId, prompt: 'Postgres.', ...changes }),
  );
  expect((await server.client.questions.get(one.questionId)).status).toBe(leaves);
  const [row] = await server.database.query<{ count: number }>(
    `SELECT count(*)::int AS count FROM queue_entry WHERE kind = 'answer' AND question_id = $1`,
    [one.questionId],
  );
  expect(row?.count).toBe(leaves === 'answered' ? 1 : 0);
  return answered;
}

describe('an answer', () => {
  test.each(CASES.map((one) => [one.name, one] as const))('%s gets its code through every door', async (name, one) => {
    const told: string[] = [];
    for (const door of Object.values(DOORS)) told.push(await play(door, one));
    table.push([name, ...told, one.leaves]);
    expect(told).toEqual(Object.keys(DOORS).map(() => one.expected));
  });

  test(`${OPERATOR.name} is refused`, async () => {
    const told = [await play(DOORS['REST']!, OPERATOR), await play(DOORS['command line']!, OPERATOR)];
    table.push([OPERATOR.name, told[0]!, '–', '–', told[1]!, OPERATOR.leaves]);
    expect(told).toEqual([OPERATOR.expected, OPERATOR.expected]);
  });

  test('is documented as it is', () => {
    const line = (cells: readonly string[]) => `| ${cells.join(' | ')} |`;
    const head = ['answer', ...Object.keys(DOORS), 'the question is then'];
    const lines = [head, head.map(() => '---'), ...table.map(([name = '', ...rest]) => [name.replace(/ \[.*\]$/, ''), ...rest])].map(line);
    const document = `# What an answer is told\n\nMade by \`npm test -- test/contract/wrong-answers\`: a reply to a child’s question, through each door.\n\n${lines.join('\n')}\n`;
    if (process.env['WRITE_GOLDEN']) writeFileSync(DOCUMENT, document);
    process.stdout.write(`${lines.join('\n')}\n`);
    expect(document).toBe(readFileSync(DOCUMENT, 'utf8'));
  });
});
