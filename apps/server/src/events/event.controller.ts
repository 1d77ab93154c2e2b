import { Controller, Get, Headers, Inject, Query, Req, Res } from '@nestjs/common';
import { ApiHeader, ApiOkResponse, ApiOperation, ApiProduces, ApiTags } from '@nestjs/swagger';
import type { Request, Response } from 'express';
import { FollowEvents } from '../api/requests.js';
import { EventStreams } from './event-streams.js';

@ApiTags('events')
@Controller('api/v1/events')
export class EventController {
  constructor(@Inject(EventStreams) private readonly streams: EventStreams) {}

  @Get()
  @ApiProduces('text/event-stream')
  @ApiOperation({
    summary: 'Follow events',
    description:
      'Durable events carry `id`; resume with `Last-Event-ID`. After `reset`, read again what you show. Live pieces of text carry no id and are never replayed.',
  })
  @ApiHeader({
    name: 'Last-Event-ID',
    required: false,
    description: 'Position of the last event that you have.',
    schema: { type: 'string' },
  })
  @ApiOkResponse({ description: 'Server-sent events until either side ends the stream.', schema: { type: 'string' } })
  followEvents(
    @Query({ schema: FollowEvents }) query: FollowEvents,
    @Headers('last-event-id') lastEventId: string | undefined,
    @Req() request: Request,
    @Res() response: Response,
  ): Promise<void> {
    return this.streams.open(request, response, {
      after: lastEventId?.trim() || query.after || null,
      workspaceId: query.workspace_id ?? null,
      taskId: query.task_id ?? null,
    });
  }
}
