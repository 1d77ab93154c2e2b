/** The command itself, on the embedded Postgres: starts, stops, dies and says in one sentence why it cannot start. */
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, jest, test } from '@jest/globals';
import { type ApiClient, createApiClient } from '@echelon/api-client';
import type { ParentQuestion, Task } from '@echelon/contracts';
import { createTestDatabase, findFreePort, type Program, startProgram, waitFor } from '@echelon/testkit';
import { listenAnywhere } from '../support/free-port.js';

jest.setTimeout(480_000);

const CANNOT_START = { code: 4, signal: null };
/** What a shell might have set is not ours. */
const FOREIGN = ['DATABASE_URL', 'REDIS_URL', 'ECHELON_URL', 'ECHELON_TOKEN', 'ECHELON_MODEL_BASE_URL', 'ECHELON_SCRIPTED_MODEL_URL'];
const KEYS = ['OPENAI_API_KEY', 'ANTHROPIC_API_KEY'];

/** A server that said where it is. */
interface Running {
  readonly program: Program;
  readonly url: string;
  readonly token: string;
  readonly api: ApiClient;
}

/** A data folder, and the commands that were started on it. */
class Machine {
  readonly dataDir = path.join(mkdtempSync(path.join(tmpdir(), 'echelon-up-')), 'data');
  readonly #programs: Program[] = [];

  run(args: readonly string[], env: Readonly<Record<string, string>> = {}): Program {
    const cleared = Object.fromEntries([...FOREIGN, ...KEYS].map((name) => [name, '']));
    const own = { ECHELON_DATA_DIR: this.dataDir, ECHELON_PORT: '0', ECHELON_LOG_LEVEL: 'silent' };
    const program = startProgram('apps/cli/bin/echelon.mjs', { args, env: { ...cleared, ...own, ...env } });
    this.#programs.push(program);
    return program;
  }

  /** `up`, as soon as it says where it is. */
  async up(): Promise<Running> {
    const program = this.run(['up', '--json']);
    const { url, sign_in_url } = JSON.parse(await program.line(/^\{"url"/)) as { readonly url: string; readonly sign_in_url: string };
    const token = new URL(sign_in_url).searchParams.get('token') ?? '';
    return { program, url, token, api: createApiClient({ baseUrl: url, token }) };
  }

  /** Process id of the Postgres of this folder while it has one. */
  findPostgres(): number | null {
    try {
      return Number(readFileSync(path.join(this.dataDir, 'postgres', 'postmaster.pid'), 'utf8').split('\n')[0]);
    } catch {
      return null;
    }
  }

  async clean(): Promise<void> {
    await Promise.all(this.#programs.map((program) => program.kill()));
    await waitFor('Postgres has stopped', () => this.findPostgres() === null);
    rmSync(path.dirname(this.dataDir), { recursive: true, force: true });
  }
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}

/** The sentence of a program that was asked for JSON; its one line holds nothing else. */
function failureOf(program: Program): string {
  const { error, exit_code } = JSON.parse(program.output()) as { readonly error: string; readonly exit_code: number };
  expect(exit_code).toBe(CANNOT_START.code);
  return error;
}

interface Demo {
  readonly scripted: boolean;
  readonly tasks: readonly Task[];
  readonly questions: readonly ParentQuestion[];
  readonly file: string;
}

/** Four agents completed, the question went two hops up and its answer came down, and the leaf wrote its file. */
async function expectDemo(program: Program): Promise<void> {
  const { scripted, tasks, questions, file } = JSON.parse(await program.line(/^\{"scripted"/)) as Demo;
  const { code } = await program.exited;
  if (code !== 0) throw new Error(program.output());
  expect(scripted).toBe(true);
  expect(tasks.map(({ depth, state }) => ({ depth, state }))).toEqual([0, 1, 2, 3].map((depth) => ({ depth, state: 'completed' })));
  const depthOf = (id: string) => tasks.find((task) => task.id === id)?.depth;
  expect(questions.map(({ task_id, parent_task_id, status }) => [depthOf(task_id), depthOf(parent_task_id), status])).toEqual([
    [3, 2, 'answered'],
    [2, 1, 'answered'],
  ]);
  expect(questions[1]?.caused_by_question_id).toBe(questions[0]?.id);
  expect(readFileSync(file, 'utf8')).toContain('Herzlich willkommen');
}

describe('echelon up', () => {
  const machine = new Machine();
  let running: Running;
  beforeAll(async () => {
    running = await machine.up();
  });
  afterAll(() => machine.clean());

  test('a second one on the same data folder names the first in one sentence', async () => {
    const second = machine.run(['up', '--json']);
    expect(await second.exited).toEqual(CANNOT_START);
    expect(failureOf(second)).toMatch(/^Another Echelon \(process \d+\) uses the data folder [^\n]+\.$/);
  });

  test('the demo plays on the one that runs [R14, R15]', async () => {
    await expectDemo(machine.run(['demo', '--json', '--url', running.url, '--token', running.token]));
  });

  test('Ctrl-C stops it and its Postgres; the next start, and one after kill -9, find the same data', async () => {
    const workspace = await running.api.workspaces.create({ name: 'kept' });
    const postgres = machine.findPostgres();
    expect(isAlive(postgres!)).toBe(true);
    expect(await running.program.kill('SIGINT')).toEqual({ code: 0, signal: null });
    expect(machine.findPostgres()).toBeNull();
    expect(isAlive(postgres!)).toBe(false);

    const second = await machine.up();
    expect(second.token).toBe(running.token);
    expect(await second.api.workspaces.get(workspace.id)).toEqual(workspace);
    const orphan = machine.findPostgres();
    await second.program.kill('SIGKILL');
    await waitFor('the orphaned Postgres has stopped', () => !isAlive(orphan!));

    const third = await machine.up();
    expect(await third.api.workspaces.get(workspace.id)).toEqual(workspace);
  });
});

describe('a start that cannot succeed ends with code 4 and one sentence', () => {
  const machine = new Machine();
  afterEach(() => machine.clean());

  async function expectOneSentence(env: Readonly<Record<string, string>>, sentence: RegExp): Promise<void> {
    const program = machine.run(['up', '--json'], env);
    expect(await program.exited).toEqual(CANNOT_START);
    expect(failureOf(program)).toMatch(/^[^\n]+\.$/);
    expect(failureOf(program)).toMatch(sentence);
    expect(machine.findPostgres()).toBeNull();
  }

  test('when the port is taken', async () => {
    const other = createServer();
    const port = await listenAnywhere(other);
    await expectOneSentence({ ECHELON_PORT: String(port) }, new RegExp(`^Port ${port} is taken.*ECHELON_PORT`));
    await new Promise((resolve) => other.close(resolve));
  });

  test('when a newer version has migrated the database', async () => {
    const storage = await createTestDatabase();
    await storage.asOwner(
      `INSERT INTO "_prisma_migrations" (id, checksum, migration_name, finished_at, applied_steps_count) VALUES ('1', '', '99990101000000_later', now(), 1)`,
    );
    await expectOneSentence({ DATABASE_URL: storage.url }, /migrated by a newer version of Echelon \(99990101000000_later\)/);
    await storage.drop();
  });

  test('when nothing answers at DATABASE_URL', async () => {
    const port = await findFreePort();
    await expectOneSentence(
      { DATABASE_URL: `postgresql://someone:secret-word@localhost:${port}/echelon` },
      /^The database lets nobody in (?!.*secret-word).*DATABASE_URL/,
    );
  });

  test('when a variable means nothing', async () => {
    await expectOneSentence({ ECHELON_PORT: 'http' }, /^ECHELON_PORT must be a whole number from 0 to 65535\.$/);
  });
});

test('the demo brings its own server where none runs, and leaves nothing running', async () => {
  const machine = new Machine();
  await expectDemo(machine.run(['demo', '--json']));
  expect(machine.findPostgres()).toBeNull();
  await machine.clean();
});
