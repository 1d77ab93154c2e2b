import { Body, Controller, Delete, Get, Inject, Param, Put } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import { DeletedTaskPlan, FoundTaskPlan, Id, WriteTaskPlan, WrittenTaskPlan } from '@echelon/contracts';
import type { Actor, Services } from '@echelon/orchestration';
import { AgentsToo, CurrentActor } from '../http/caller.js';
import { IdempotencyKey, TakesIdempotencyKey } from '../http/idempotency-key.js';
import { Operation } from '../openapi/operation.js';
import { SERVICES } from './services-token.js';

@ApiTags('tasks')
@AgentsToo()
@Controller('api/v1/tasks/:id/plan')
export class TaskPlanController {
  constructor(@Inject(SERVICES) private readonly services: Services) {}

  @Get()
  @Operation({
    summary: 'Get the plan of a task',
    description: '`plan` is null where the task has none. Agents read the plans of their own tree.',
    returns: FoundTaskPlan,
  })
  getTaskPlan(@CurrentActor() actor: Actor, @Param('id', { schema: Id }) id: string) {
    return this.services.plans.get(actor, id);
  }

  @Put()
  @TakesIdempotencyKey()
  @Operation({
    summary: 'Write the plan of a task',
    description:
      'For operators, the task’s own agents and those of its direct parent. With `expected_revision` it is refused (CONFLICT) when the plan was changed since; 0 expects none. ' +
      'The plan of a task that has ended or is archived is not written any more.',
    returns: WrittenTaskPlan,
  })
  putTaskPlan(
    @CurrentActor() actor: Actor,
    @Param('id', { schema: Id }) id: string,
    @IdempotencyKey() key: string | null,
    @Body({ schema: WriteTaskPlan }) body: WriteTaskPlan,
  ) {
    return this.services.plans.put(actor, id, body, key);
  }

  @Delete()
  @TakesIdempotencyKey()
  @Operation({
    summary: 'Delete the plan of a task',
    description: '`deleted` is false where there was none. An operator deletes the plan of an ended or archived task, too.',
    returns: DeletedTaskPlan,
  })
  deleteTaskPlan(@CurrentActor() actor: Actor, @Param('id', { schema: Id }) id: string, @IdempotencyKey() key: string | null) {
    return this.services.plans.delete(actor, id, key);
  }
}
