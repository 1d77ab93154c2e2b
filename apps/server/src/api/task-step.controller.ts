import { Body, Controller, Inject, Param, Post } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import { Id, MovedTask, MoveTask } from '@echelon/contracts';
import type { Actor, Services } from '@echelon/orchestration';
import { AgentsToo, CurrentActor } from '../http/caller.js';
import { Operation } from '../openapi/operation.js';
import { SERVICES } from './services-token.js';

@ApiTags('tasks')
@AgentsToo()
@Controller('api/v1/tasks/:id/move')
export class TaskStepController {
  constructor(@Inject(SERVICES) private readonly services: Services) {}

  @Post()
  @Operation({
    summary: 'Move a task to a step of a workflow',
    description:
      'For the task’s own sessions, its direct parent and operators. While its turn runs the move is `deferred`: it takes place when the turn ends, ' +
      'and is void if the turn asks its parent. The last call counts.',
    returns: MovedTask,
  })
  moveTask(@CurrentActor() actor: Actor, @Param('id', { schema: Id }) id: string, @Body({ schema: MoveTask }) body: MoveTask) {
    return this.services.tasks.moveToStep(actor, id, body);
  }
}
