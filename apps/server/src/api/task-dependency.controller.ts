import { Controller, Delete, Inject, Param, Put } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import { Id, TaskDependencies } from '@echelon/contracts';
import type { Actor, Services } from '@echelon/orchestration';
import { AgentsToo, CurrentActor } from '../http/caller.js';
import { Operation } from '../openapi/operation.js';
import { SERVICES } from './services-token.js';

@ApiTags('tasks')
@AgentsToo()
@Controller('api/v1/tasks/:id/dependencies')
export class TaskDependencyController {
  constructor(@Inject(SERVICES) private readonly services: Services) {}

  @Put(':blocker')
  @Operation({
    summary: 'Make a task wait for another',
    description:
      'For the task’s own sessions, its direct parent and operators. Its next turn waits until `blocker` has completed; a turn that runs goes on. ' +
      'A cycle is refused with its ids in `details.path` (DEPENDENCY_CYCLE), and so is a task above or below (DEPENDENCY_IN_LINE).',
    returns: TaskDependencies,
  })
  addTaskDependency(
    @CurrentActor() actor: Actor,
    @Param('id', { schema: Id }) id: string,
    @Param('blocker', { schema: Id }) blocker: string,
  ) {
    return this.services.tasks.addDependency(actor, id, blocker);
  }

  @Delete(':blocker')
  @Operation({
    summary: 'Make a task wait for another no longer',
    description: 'For the same callers. When nothing else holds the task, the work that waits in its queue starts.',
    returns: TaskDependencies,
  })
  removeTaskDependency(
    @CurrentActor() actor: Actor,
    @Param('id', { schema: Id }) id: string,
    @Param('blocker', { schema: Id }) blocker: string,
  ) {
    return this.services.tasks.removeDependency(actor, id, blocker);
  }
}
