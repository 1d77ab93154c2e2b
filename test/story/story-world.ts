/** The story's stage: a database and a data folder of its own, the scripted model in this process, and processes that come and go. */
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { type ApiClient, createApiClient } from '@echelon/api-client';
import type { Task } from '@echelon/contracts';
import { createPool, Database } from '@echelon/persistence';
import { type AgentScript, type RecordedRequest, type ScriptedModel, startScriptedModel } from '@echelon/scripted-model';
import { createTestDatabase, type Program, type ProgramExit, startProgram, type TestDatabase, waitFor } from '@echelon/testkit';
import { KILL_VARIABLE, type KillPoint } from './kill-point.js';
import { FILE, parentPrompt } from './story-script.js';

/** Server and worker in one process. */
export interface Node {
  readonly program: Program;
  readonly url: string;
  readonly api: ApiClient;
}

/** The tasks' models, by which their requests are told apart. */
export const MODELS = { parent: 'scripted-parent', child: 'scripted-child' } as const;

/** A story takes a second; a machine that runs other things beside it is given time. */
const STORY_SECONDS = 90;

export class StoryWorld {
  readonly #programs: Program[] = [];

  /** Holds the data of every process: the operator's token, and the folders of the tasks. */
  readonly #dataDir: string;

  private constructor(
    readonly storage: TestDatabase,
    readonly database: Database,
    readonly model: ScriptedModel,
    private readonly settings: Readonly<Record<string, string>>,
  ) {
    this.#dataDir = settings['ECHELON_DATA_DIR'] ?? mkdtempSync(path.join(tmpdir(), 'echelon-story-'));
  }

  /** `storage` is a migrated or an empty database; absent, one of the test run's own. `settings` reach every process. */
  static async open(
    script: AgentScript,
    { storage, settings = {} }: { readonly storage?: TestDatabase; readonly settings?: Readonly<Record<string, string>> } = {},
  ): Promise<StoryWorld> {
    const opened = storage ?? (await createTestDatabase());
    const database = new Database(createPool(opened.url, { max: 2 }));
    return new StoryWorld(opened, database, await startScriptedModel({ script }), settings);
  }

  /** Environment of every process of this deployment. */
  get env(): Readonly<Record<string, string>> {
    return {
      DATABASE_URL: this.storage.url,
      REDIS_URL: '',
      ECHELON_DATA_DIR: this.#dataDir,
      ECHELON_PORT: '0',
      ECHELON_SCRIPTED_MODEL_URL: this.model.url,
      ECHELON_LOG_LEVEL: 'info',
      ...this.settings,
    };
  }

  /** Starts a program of this repository in this deployment. */
  start(file: string, env: Readonly<Record<string, string>> = {}): Program {
    const program = startProgram(file, { env: { ...this.env, ...env } });
    this.#programs.push(program);
    return program;
  }

  /** Starts server and worker in one process, which may be dead before it says where it is. */
  startDoomed(dies?: KillPoint): Program {
    return this.start('test/story/node.ts', dies ? { [KILL_VARIABLE]: JSON.stringify(dies) } : {});
  }

  /** Starts server and worker in one process, which dies at the point where one is given. */
  async startNode(dies?: KillPoint): Promise<Node> {
    const program = this.startDoomed(dies);
    const { url } = JSON.parse(await program.line(/^\{"url"/)) as { readonly url: string };
    return { program, url, api: this.connect(url) };
  }

  /** The operator's client of a server of this deployment. */
  connect(url: string): ApiClient {
    return createApiClient({ baseUrl: url, token: this.operatorToken() });
  }

  /** The token that the last start or restore kept. */
  operatorToken(): string {
    return readFileSync(path.join(this.#dataDir, 'keys', 'operator-token'), 'utf8').trim();
  }

  /** Creates the parent's task, which starts the story. */
  async begin(api: ApiClient): Promise<Task> {
    const workspace = await api.workspaces.create({ name: 'story' });
    const profile = (name: keyof typeof MODELS) =>
      api.profiles.create({ workspace_id: workspace.id, name, provider: 'scripted', model: MODELS[name] });
    const [parent, child] = [await profile('parent'), await profile('child')];
    return api.tasks.create({ workspace_id: workspace.id, profile_id: parent.id, title: 'The parent', prompt: parentPrompt(child.id) });
  }

  /** Runs a task beside the story's to its rest: one model request, after which this deployment has provably worked. */
  async bystander(api: ApiClient, { workspace_id, profile_id }: Task): Promise<void> {
    const task = await api.tasks.create({ workspace_id, profile_id, title: 'A bystander', prompt: '[story:bystander] Say hello.' });
    const rested = `SELECT id FROM task WHERE id = $1 AND state = 'review'`;
    await waitFor('the bystander has said hello', () => this.one(rested, [task.id]), STORY_SECONDS);
  }

  /** Resolves when the task has ended. */
  async untilEnded(taskId: string): Promise<void> {
    await waitFor(
      `the end of task ${taskId}`,
      () => this.one(`SELECT id FROM task WHERE id = $1 AND ended_at IS NOT NULL`, [taskId]),
      STORY_SECONDS,
    );
  }

  /** Resolves with how the program ended; gives up where it goes on living. */
  untilDead(program: Program): Promise<ProgramExit> {
    let exit: ProgramExit | null = null;
    void program.exited.then((how) => (exit = how));
    return waitFor('the death that was planned', () => exit, STORY_SECONDS);
  }

  /** Model requests of one task's agent that reached the model, in order: the agents' own order among each other is nobody's promise. */
  requestsOf(agent: keyof typeof MODELS): readonly RecordedRequest[] {
    return this.model.requests.filter(({ body }) => (body as { readonly model: string }).model === MODELS[agent]);
  }

  /** What the child wrote. */
  readFile(root: Task): string {
    return readFileSync(path.join(this.#dataDir, 'workspaces', root.id, FILE), 'utf8');
  }

  rows<Row extends object>(sql: string, values: readonly unknown[] = []): Promise<readonly Row[]> {
    return this.database.query<Row>(sql, values);
  }

  async one<Row extends object>(sql: string, values: readonly unknown[] = []): Promise<Row | null> {
    return (await this.rows<Row>(sql, values))[0] ?? null;
  }

  /** Kills what still runs, and deletes everything. */
  async close(): Promise<void> {
    await Promise.all(this.#programs.map((program) => program.kill()));
    await this.model.close();
    await this.database.close();
    await this.storage.drop();
    rmSync(this.#dataDir, { recursive: true, force: true });
  }
}
