/** The tools on a world's database, called as their surfaces call them. */
import { type ToolResult, validateArguments } from '@echelon/agent-loop';
import { DEFAULT_LIMITS } from '@echelon/domain';
import type { EventBus } from '@echelon/messaging';
import {
  type Actor,
  AttachedService,
  ProfileService,
  SessionService,
  TaskPlanService,
  TaskService,
  WorkflowService,
} from '@echelon/orchestration';
import { createToolCatalogue, type ToolCatalogue, type ToolSurface } from '@echelon/tools';
import { expect } from '@jest/globals';
import { type TestTask, World } from './world.js';

export const ASK = {
  questions: [{ prompt: 'Which database?', options: [{ label: 'Postgres' }, { label: 'SQLite' }] }],
  context: 'The schema depends on it.',
};

/** Nobody waits for an event here. */
const SILENT_BUS: EventBus = {
  publish: () => undefined,
  subscribe: () => Promise.resolve(() => undefined),
  onReconnect: () => () => undefined,
  close: () => Promise.resolve(),
};

interface CallOptions {
  readonly surface?: ToolSurface;
  readonly callId?: string;
}

export class ToolBench {
  readonly profiles: ProfileService;
  readonly sessions: SessionService;
  readonly #catalogue: ToolCatalogue;

  private constructor(readonly world: World) {
    const { database, transactions, services } = world;
    this.profiles = new ProfileService(database, transactions, DEFAULT_LIMITS);
    const tasks = new TaskService(database, transactions, DEFAULT_LIMITS);
    this.sessions = new SessionService(database, transactions);
    const attached = new AttachedService(database, transactions, SILENT_BUS);
    const workflows = new WorkflowService(database, transactions, DEFAULT_LIMITS);
    const plans = new TaskPlanService(database, transactions, DEFAULT_LIMITS);
    this.#catalogue = createToolCatalogue({
      services: { ...services, tasks, plans, workflows, sessions: this.sessions, attached, profiles: this.profiles },
    });
  }

  static async open(): Promise<ToolBench> {
    return new ToolBench(await World.open());
  }

  close(): Promise<void> {
    return this.world.close();
  }

  /** Calls a tool by its name, offered or not: validated, and with the identity that the surface knows of the call. */
  async call(
    actor: Actor,
    name: string,
    input: object,
    { surface = 'loop', callId = crypto.randomUUID() }: CallOptions = {},
  ): Promise<ToolResult> {
    const tool = this.#catalogue.find(name);
    if (!tool) throw new Error(`no tool ${name}`);
    const validation = validateArguments(tool, JSON.stringify(input));
    if (!validation.valid) return { text: validation.text, isError: true };
    return tool.execute(validation.input, { callId, signal: AbortSignal.timeout(20_000), context: { actor, surface } });
  }

  /** Calls a tool over MCP. */
  callMcp(actor: Actor, name: string, input: object): Promise<ToolResult> {
    return this.call(actor, name, input, { surface: 'mcp' });
  }

  /** The data of a call that succeeds, whose text says the same. */
  async succeed(...args: Parameters<ToolBench['call']>): Promise<Readonly<Record<string, unknown>>> {
    const result = await this.call(...args);
    expect(result).toMatchObject({ isError: false });
    expect(result.text).toBe(JSON.stringify(result.structured, null, 2));
    return result.structured ?? {};
  }

  async family(options: { readonly autopilot: boolean } = { autopilot: true }): Promise<{ parent: TestTask; child: TestTask }> {
    const parent = await this.world.task({ title: 'The parent' });
    return { parent, child: await this.world.task({ parent, autopilot: options.autopilot, title: 'The child' }) };
  }

  /** The parent answers what an ask returned. */
  async answer({ parent, child }: { readonly parent: TestTask; readonly child: TestTask }, asked: ToolResult): Promise<void> {
    const reply = {
      task_id: child.id,
      session_id: child.sessionId,
      reply_to_question_id: asked.structured?.['question_id'],
      prompt: 'Postgres.',
    };
    await this.succeed(this.world.agent(parent), 'message_task_kandev', reply);
  }

  async countQuestions(task: TestTask): Promise<number> {
    const [row] = await this.world.rows<{ count: number }>(
      `SELECT count(*)::int AS count FROM message WHERE session_id = $1 AND type IN ('parent_question', 'user_question')`,
      [task.sessionId],
    );
    return row?.count ?? 0;
  }

  async countTasks(): Promise<number> {
    const [row] = await this.world.rows<{ count: number }>('SELECT count(*)::int AS count FROM task');
    return row?.count ?? 0;
  }
}
