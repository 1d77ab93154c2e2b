import { Body, Controller, Delete, Get, Inject, Param, Patch, Post, Put, Query, UseGuards } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import {
  CreatedTask,
  CreateTask,
  DeletedTask,
  Id,
  ListTasks,
  Message,
  pageOf,
  RelatedTasks,
  ReparentTask,
  SendMessage,
  SentMessage,
  Session,
  SpawnedSession,
  SpawnSession,
  StoppedTask,
  Task,
  UpdateTask,
} from '@echelon/contracts';
import type { Actor, Services } from '@echelon/orchestration';
import { AgentsToo, CurrentActor } from '../http/caller.js';
import { IdempotencyKey, TakesIdempotencyKey } from '../http/idempotency-key.js';
import { ImmutableFieldsGuard } from '../http/immutable-fields.guard.js';
import { Operation } from '../openapi/operation.js';
import { ArchivedTask, DeleteTask, ListMessages, StopTask } from './requests.js';
import { SERVICES } from './services-token.js';
import { withKey } from './with-key.js';

@ApiTags('tasks')
@AgentsToo()
@Controller('api/v1/tasks')
export class TaskController {
  constructor(@Inject(SERVICES) private readonly services: Services) {}

  @Post()
  @TakesIdempotencyKey()
  @Operation({
    summary: 'Create a task',
    description:
      '`autopilot` is fixed here, false unless set, and never inherited. The agent starts at once unless `start_agent` is false.',
    returns: CreatedTask,
    status: 201,
  })
  createTask(@CurrentActor() actor: Actor, @IdempotencyKey() key: string | null, @Body({ schema: CreateTask }) body: CreateTask) {
    return this.services.tasks.create(actor, body, key);
  }

  @Get()
  @Operation({ summary: 'List tasks', returns: pageOf(Task) })
  listTasks(@CurrentActor() actor: Actor, @Query({ schema: ListTasks }) query: ListTasks) {
    return this.services.tasks.list(actor, query);
  }

  @Get(':id')
  @Operation({ summary: 'Get a task', returns: Task })
  getTask(@CurrentActor() actor: Actor, @Param('id', { schema: Id }) id: string) {
    return this.services.tasks.get(actor, id);
  }

  @Patch(':id')
  @UseGuards(new ImmutableFieldsGuard(['autopilot']))
  @Operation({
    summary: 'Change a task',
    description: 'A call that names `autopilot` is refused as a whole (FIELD_IMMUTABLE).',
    returns: Task,
  })
  updateTask(@CurrentActor() actor: Actor, @Param('id', { schema: Id }) id: string, @Body({ schema: UpdateTask }) changes: UpdateTask) {
    return this.services.tasks.update(actor, id, changes);
  }

  @Delete(':id')
  @Operation({
    summary: 'Delete a task for good',
    description:
      'For an operator and the direct parent. Its sessions end, and it is gone for everybody at once; its rows and its folder go later. ' +
      'Its children become roots, or are deleted with all that is below them under `cascade`, which an agent must set where there are any. ' +
      'What waits for it is held until that dependency is removed. Again by the same caller it says `already_deleted`.',
    returns: DeletedTask,
  })
  deleteTask(
    @CurrentActor() actor: Actor,
    @Param('id', { schema: Id }) id: string,
    @Query({ schema: DeleteTask }) { cascade }: DeleteTask,
  ) {
    return this.services.tasks.delete(actor, id, { cascade });
  }

  @Get(':id/related')
  @Operation({ summary: 'List the parent, children, siblings and dependencies of a task', returns: RelatedTasks })
  listRelatedTasks(@CurrentActor() actor: Actor, @Param('id', { schema: Id }) id: string) {
    return this.services.tasks.listRelated(actor, id);
  }

  @Post(':id/stop')
  @Operation({
    summary: 'Stop a task',
    description:
      'Cancels its sessions and leaves it in review; descendants only with `cascade`. What its sessions had not read is kept for the next one.',
    returns: StoppedTask,
  })
  stopTask(@CurrentActor() actor: Actor, @Param('id', { schema: Id }) id: string, @Body({ schema: StopTask.prefault({}) }) body: StopTask) {
    return this.services.tasks.stop(actor, id, { cascade: body.cascade });
  }

  @Post(':id/archive')
  @Operation({ summary: 'Archive a task', returns: ArchivedTask })
  archiveTask(@CurrentActor() actor: Actor, @Param('id', { schema: Id }) id: string) {
    return this.services.tasks.archive(actor, id);
  }

  @Post(':id/unarchive')
  @Operation({ summary: 'Take a task out of the archive', returns: Task })
  unarchiveTask(@CurrentActor() actor: Actor, @Param('id', { schema: Id }) id: string) {
    return this.services.tasks.unarchive(actor, id);
  }

  @Put(':id/parent')
  @Operation({
    summary: 'Attach a task to another parent, or detach it',
    description: 'For operators. What the old parent was asked and has not answered is stale at once, and the child is told.',
    returns: Task,
  })
  reparentTask(@CurrentActor() actor: Actor, @Param('id', { schema: Id }) id: string, @Body({ schema: ReparentTask }) body: ReparentTask) {
    return this.services.tasks.reparent(actor, id, body.parent_id);
  }

  @Get(':id/sessions')
  @Operation({ summary: 'List the sessions of a task', returns: pageOf(Session) })
  listTaskSessions(@CurrentActor() actor: Actor, @Param('id', { schema: Id }) id: string) {
    return this.services.sessions.listByTask(actor, id);
  }

  @Post(':id/sessions')
  @TakesIdempotencyKey()
  @Operation({
    summary: 'Start another session of a task',
    description:
      'For an operator and the direct parent. It becomes primary when asked, or when the primary session has ended. ' +
      'What the task’s stopped sessions had not read comes after its prompt, in its order. ' +
      'An autopilot task takes only sessions of kind `task` whose profile can carry its contract (PROFILE_INCOMPATIBLE).',
    returns: SpawnedSession,
    status: 201,
  })
  spawnSession(
    @CurrentActor() actor: Actor,
    @Param('id', { schema: Id }) id: string,
    @IdempotencyKey() key: string | null,
    @Body({ schema: SpawnSession }) body: SpawnSession,
  ) {
    return this.services.tasks.spawnSession(actor, id, body, key);
  }

  @Get(':id/messages')
  @Operation({ summary: 'List the conversation of a task’s primary session', returns: pageOf(Message) })
  listTaskMessages(
    @CurrentActor() actor: Actor,
    @Param('id', { schema: Id }) id: string,
    @Query({ schema: ListMessages }) { thread_id: threadId, ...query }: ListMessages,
  ) {
    return this.services.sessions.listMessages(actor, { ...query, threadId, taskId: id });
  }

  @Post(':id/messages')
  @TakesIdempotencyKey()
  @Operation({
    summary: 'Send a message to a task',
    description:
      'Queued for the named session, else for the live primary one. With `reply_to_question_id` it is a parent’s answer, which no operator may give. ' +
      'The header and `idempotency_key` mean the same.',
    returns: SentMessage,
    status: 202,
  })
  sendMessage(
    @CurrentActor() actor: Actor,
    @Param('id', { schema: Id }) id: string,
    @IdempotencyKey() key: string | null,
    @Body({ schema: SendMessage }) body: SendMessage,
  ) {
    return this.services.messages.send(actor, id, withKey(body, key));
  }
}
