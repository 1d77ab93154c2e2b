import { Body, Controller, Get, Inject, Param, Patch, Post, Query } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import { CreateWorkflow, Id, pageOf, UpdateWorkflow, Workflow } from '@echelon/contracts';
import type { Actor, Services } from '@echelon/orchestration';
import { AgentsToo, type Caller, CurrentActor, CurrentCaller } from '../http/caller.js';
import { IdempotencyKey, TakesIdempotencyKey } from '../http/idempotency-key.js';
import { Operation } from '../openapi/operation.js';
import { ListWorkflows } from './requests.js';
import { runOnce } from './run-once.js';
import { SERVICES } from './services-token.js';

@ApiTags('workflows')
@Controller('api/v1/workflows')
export class WorkflowController {
  constructor(@Inject(SERVICES) private readonly services: Services) {}

  @Post()
  @TakesIdempotencyKey()
  @Operation({
    summary: 'Create a workflow',
    description:
      'Its steps in their order; `move_to` names a step. Rules that would move a task in a circle of steps with instructions are refused (WORKFLOW_LOOP).',
    returns: Workflow,
    status: 201,
  })
  createWorkflow(
    @CurrentCaller() caller: Caller,
    @IdempotencyKey() key: string | null,
    @Body({ schema: CreateWorkflow }) body: CreateWorkflow,
  ) {
    return runOnce(this.services.idempotency, { caller, key, intention: 'create_workflow', body }, () =>
      this.services.workflows.create(caller.actor, body),
    );
  }

  @Get()
  @AgentsToo()
  @Operation({ summary: 'List workflows', description: 'Archived ones are left out.', returns: pageOf(Workflow) })
  listWorkflows(@CurrentActor() actor: Actor, @Query({ schema: ListWorkflows }) query: ListWorkflows) {
    return this.services.workflows.list(actor, query);
  }

  @Get(':id')
  @AgentsToo()
  @Operation({ summary: 'Get a workflow with its steps', returns: Workflow })
  getWorkflow(@CurrentActor() actor: Actor, @Param('id', { schema: Id }) id: string) {
    return this.services.workflows.get(actor, id);
  }

  @Patch(':id')
  @Operation({
    summary: 'Change a workflow',
    description:
      '`steps` is the whole new list: it adds, renames, reorders, and archives what it leaves out, which is refused while tasks are in it (WORKFLOW_STEP_IN_USE). ' +
      'With `expected_revision` the call is refused (CONFLICT) when the workflow was changed since.',
    returns: Workflow,
  })
  updateWorkflow(
    @CurrentActor() actor: Actor,
    @Param('id', { schema: Id }) id: string,
    @Body({ schema: UpdateWorkflow }) changes: UpdateWorkflow,
  ) {
    return this.services.workflows.update(actor, id, changes);
  }

  @Post(':id/archive')
  @Operation({
    summary: 'Archive a workflow',
    description: 'Refused while tasks that have not ended are in its steps (WORKFLOW_STEP_IN_USE).',
    returns: Workflow,
  })
  archiveWorkflow(@CurrentActor() actor: Actor, @Param('id', { schema: Id }) id: string) {
    return this.services.workflows.archive(actor, id);
  }
}
