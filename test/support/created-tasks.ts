/** Tasks made through the service, as the edges make them. */
import type { CreatedTask, CreateTask } from '@echelon/contracts';
import { DEFAULT_LIMITS, type Limits } from '@echelon/domain';
import type { Actor, AgentActor } from '../../libs/orchestration/src/actor.js';
import { ProfileService } from '../../libs/orchestration/src/profile.service.js';
import { TaskService } from '../../libs/orchestration/src/task.service.js';
import { WorkspaceService } from '../../libs/orchestration/src/workspace.service.js';
import { accepted, type World } from './world.js';

/** So high that only the spec of the rate meets it. */
const LIMITS = { ...DEFAULT_LIMITS, creates_per_tree_minute: 1_000 };

export class CreatedTasks {
  readonly service: TaskService;
  readonly profiles: ProfileService;
  readonly workspaces: WorkspaceService;

  constructor(private readonly world: World) {
    this.service = this.limitedBy({});
    this.profiles = new ProfileService(world.database, world.transactions, LIMITS);
    this.workspaces = new WorkspaceService(world.database, world.transactions);
  }

  /** The same service under other limits. */
  limitedBy(limits: Partial<Limits>): TaskService {
    return new TaskService(this.world.database, this.world.transactions, { ...LIMITS, ...limits });
  }

  /** A request after its schema. */
  request(given: Partial<CreateTask> = {}): CreateTask {
    return {
      prompt: 'Write the report.',
      autopilot: false,
      blocked_by: [],
      start_agent: true,
      workspace_id: this.world.workspaceId,
      ...given,
    };
  }

  async create(given: Partial<CreateTask> = {}, actor: Actor = this.world.operator): Promise<CreatedTask> {
    return accepted(await this.service.create(actor, this.request(given), null));
  }

  /** A task of a workspace that no agent of the world's own sees. */
  async createElsewhere(): Promise<CreatedTask> {
    const { id: workspace_id } = accepted(await this.workspaces.create(this.world.operator, { name: 'Elsewhere' }));
    accepted(await this.profiles.create(this.world.operator, { ...profileInput('Default'), workspace_id }));
    return this.create({ workspace_id });
  }

  /** A profile of the world's workspace. */
  async profile(name: string, runtime: 'loop' | 'external' | 'passthrough' = 'loop'): Promise<string> {
    const input = { ...profileInput(name), runtime, workspace_id: this.world.workspaceId };
    return accepted(await this.profiles.create(this.world.operator, input)).id;
  }

  /** Counts of rows in every table that a creation writes to. */
  async traces(): Promise<Readonly<Record<'tasks' | 'sessions' | 'entries' | 'events' | 'audits' | 'wakes', number>>> {
    const [row] = await this.world.rows<Awaited<ReturnType<CreatedTasks['traces']>>>(
      `SELECT (SELECT count(*)::int FROM task) AS tasks, (SELECT count(*)::int FROM session) AS sessions,
         (SELECT count(*)::int FROM queue_entry) AS entries, (SELECT count(*)::int FROM event) AS events,
         (SELECT count(*)::int FROM audit) AS audits, (SELECT count(*)::int FROM outbox) AS wakes`,
    );
    if (!row) throw new Error('an aggregate returned no row');
    return row;
  }
}

/** The agent of the task's primary session. */
export function agentOf(task: CreatedTask, callId: string | null = null): AgentActor {
  const { workspace_id: workspaceId, id: taskId } = task;
  return { kind: 'agent', workspaceId, taskId, sessionId: task.primary_session_id ?? '', turnId: null, callId };
}

function profileInput(name: string) {
  return {
    name,
    runtime: 'loop' as const,
    provider: 'scripted',
    model: 'scripted',
    system_prompt: '',
    max_output_tokens: null,
    context_window: null,
    fallback_models: [],
    budgets: {},
    hooks: {},
    parent_question_timeout_seconds: null,
    user_question_timeout_seconds: null,
  };
}
