/** Workflows of a world, tasks in their steps, and ends of turns. */
import type { LoopStop } from '@echelon/agent-loop';
import type { CreateWorkflow, MovedTask, Workflow } from '@echelon/contracts';
import { DEFAULT_LIMITS } from '@echelon/domain';
import { newId } from '@echelon/persistence';
import type { Actor } from '../../libs/orchestration/src/actor.js';
import type { ClaimedTurn } from '../../libs/orchestration/src/claim.js';
import type { Outcome } from '../../libs/orchestration/src/outcome.js';
import { settle, type Settled } from '../../libs/orchestration/src/settle.js';
import { TaskService } from '../../libs/orchestration/src/task.service.js';
import { WorkflowService } from '../../libs/orchestration/src/workflow.service.js';
import { accepted, type TaskOptions, type TestTask, type World } from './world.js';

type StepInput = Partial<CreateWorkflow['steps'][number]> & { readonly name: string };

export class Workflows {
  readonly service: WorkflowService;
  readonly tasks: TaskService;

  constructor(private readonly world: World) {
    this.service = new WorkflowService(world.database, world.transactions, DEFAULT_LIMITS);
    this.tasks = new TaskService(world.database, world.transactions, DEFAULT_LIMITS);
  }

  /** A workflow of these steps, each with what is left out. */
  async define(...steps: readonly StepInput[]): Promise<Workflow> {
    return accepted(await this.service.create(this.world.operator, this.input(...steps)));
  }

  input(...steps: readonly StepInput[]): CreateWorkflow {
    const full = steps.map((step) => ({ on_turn_complete: 'none' as const, requires_signal: false, instructions: '', ...step }));
    return { workspace_id: this.world.workspaceId, name: `Workflow ${newId()}`, is_default: false, steps: full };
  }

  /** A task in a step of the workflow, the first one where none is named. */
  async taskIn(workflow: Workflow, step = workflow.steps[0]?.name, options: TaskOptions = {}): Promise<TestTask> {
    const task = await this.world.task(options);
    await this.world.database.query('UPDATE task SET workflow_step_id = $2 WHERE id = $1', [task.id, stepId(workflow, step ?? '')]);
    return task;
  }

  move(actor: Actor, task: TestTask, workflow: Workflow, step: string): Promise<Outcome<MovedTask>> {
    return this.tasks.moveToStep(actor, task.id, { workflow_step_id: stepId(workflow, step) });
  }

  /** Name of the step that the task is in. */
  async stepOf(task: TestTask): Promise<string | null> {
    return accepted(await this.tasks.get(this.world.operator, task.id)).workflow_step?.name ?? null;
  }

  /** Ends a claimed turn, and takes up what follows under the same lease. */
  end(claimed: ClaimedTurn, stop: LoopStop = { reason: 'completed' }): Promise<Settled> {
    return settle(this.world.transactions, claimed, { stop, record: () => Promise.resolve() }, { yieldToOthers: false });
  }

  /** Payloads of the events of a type about the task, in order. */
  async told(task: TestTask, type: 'task.moved' | 'task.move_voided'): Promise<readonly Record<string, unknown>[]> {
    const rows = await this.world.rows<{ payload: string }>('SELECT payload FROM event WHERE task_id = $1 AND type = $2 ORDER BY id', [
      task.id,
      type,
    ]);
    return rows.map(({ payload }) => JSON.parse(payload) as Record<string, unknown>);
  }
}

function stepId(workflow: Workflow, name: string): string {
  const step = workflow.steps.find((each) => each.name === name);
  if (!step) throw new Error(`no step is named ${name}`);
  return step.id;
}
