import { Body, Controller, Delete, Get, Inject, Param, Patch, Post, Put, Query } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import { EditQueueEntry, Id, Message, MoveQueueEntry, PageQuery, pageOf, QueueEntry, Session, Turn } from '@echelon/contracts';
import type { Actor, Services } from '@echelon/orchestration';
import { AgentsToo, CurrentActor } from '../http/caller.js';
import { Operation } from '../openapi/operation.js';
import { ListMessages, SetAutoRun } from './requests.js';
import { SERVICES } from './services-token.js';

@ApiTags('sessions')
@Controller('api/v1/sessions')
export class SessionController {
  constructor(@Inject(SERVICES) private readonly services: Services) {}

  @Get(':id')
  @AgentsToo()
  @Operation({ summary: 'Get a session', returns: Session })
  getSession(@CurrentActor() actor: Actor, @Param('id', { schema: Id }) id: string) {
    return this.services.sessions.get(actor, id);
  }

  @Get(':id/messages')
  @AgentsToo()
  @Operation({ summary: 'List the conversation of a session', returns: pageOf(Message) })
  listMessages(
    @CurrentActor() actor: Actor,
    @Param('id', { schema: Id }) id: string,
    @Query({ schema: ListMessages }) { thread_id: threadId, ...query }: ListMessages,
  ) {
    return this.services.sessions.listMessages(actor, { ...query, threadId, sessionId: id });
  }

  @Get(':id/turns')
  @AgentsToo()
  @Operation({ summary: 'List the turns of a session', returns: pageOf(Turn) })
  listTurns(@CurrentActor() actor: Actor, @Param('id', { schema: Id }) id: string, @Query({ schema: PageQuery }) query: PageQuery) {
    return this.services.sessions.listTurns(actor, id, query);
  }

  @Get(':id/queue')
  @Operation({ summary: 'List the queue of a session', returns: pageOf(QueueEntry) })
  listQueue(@CurrentActor() actor: Actor, @Param('id', { schema: Id }) id: string, @Query({ schema: PageQuery }) query: PageQuery) {
    return this.services.sessions.listQueue(actor, id, query);
  }

  @Delete(':id/queue/:entryId')
  @Operation({ summary: 'Take an entry out of a session’s queue', returns: QueueEntry })
  removeQueueEntry(
    @CurrentActor() actor: Actor,
    @Param('id', { schema: Id }) id: string,
    @Param('entryId', { schema: Id }) entryId: string,
  ) {
    return this.services.sessions.removeEntry(actor, id, entryId);
  }

  @Patch(':id/queue/:entryId')
  @Operation({
    summary: 'Edit a waiting message of an operator',
    description: 'Refused with CONFLICT where the entry has another revision, with ENTRY_NOT_QUEUED once it was delivered.',
    returns: QueueEntry,
  })
  editQueueEntry(
    @CurrentActor() actor: Actor,
    @Param('id', { schema: Id }) sessionId: string,
    @Param('entryId', { schema: Id }) entryId: string,
    @Body({ schema: EditQueueEntry }) body: EditQueueEntry,
  ) {
    return this.services.queue.edit(actor, { sessionId, entryId }, body);
  }

  @Post(':id/queue/:entryId/move')
  @Operation({
    summary: 'Move a waiting entry among those of its rank',
    description: 'Answers and notices keep their place: FORBIDDEN.',
    returns: QueueEntry,
  })
  moveQueueEntry(
    @CurrentActor() actor: Actor,
    @Param('id', { schema: Id }) sessionId: string,
    @Param('entryId', { schema: Id }) entryId: string,
    @Body({ schema: MoveQueueEntry }) body: MoveQueueEntry,
  ) {
    return this.services.queue.move(actor, { sessionId, entryId }, body);
  }

  @Put(':id/auto-run')
  @Operation({
    summary: 'Pause or resume the queue of a session',
    description: 'While paused, entries stay queued and open no turn.',
    returns: Session,
  })
  setAutoRun(@CurrentActor() actor: Actor, @Param('id', { schema: Id }) id: string, @Body({ schema: SetAutoRun }) body: SetAutoRun) {
    return this.services.sessions.setAutoRun(actor, id, body.auto_run);
  }
}
