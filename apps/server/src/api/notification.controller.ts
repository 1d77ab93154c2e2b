import { Controller, Get, Inject, Param, Post, Query } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import { Id, Notification, pageOf } from '@echelon/contracts';
import type { Actor, Services } from '@echelon/orchestration';
import { CurrentActor } from '../http/caller.js';
import { Operation } from '../openapi/operation.js';
import { ListNotifications } from './requests.js';
import { SERVICES } from './services-token.js';

@ApiTags('notifications')
@Controller('api/v1/notifications')
export class NotificationController {
  constructor(@Inject(SERVICES) private readonly services: Services) {}

  @Get()
  @Operation({
    summary: 'List what operators were told',
    description: 'Once per question that its parent leaves unanswered, or cannot see because its queue is paused.',
    returns: pageOf(Notification),
  })
  listNotifications(@CurrentActor() actor: Actor, @Query({ schema: ListNotifications }) query: ListNotifications) {
    return this.services.notifications.list(actor, query);
  }

  @Post(':id/acknowledge')
  @Operation({ summary: 'Acknowledge a notification', returns: Notification })
  acknowledgeNotification(@CurrentActor() actor: Actor, @Param('id', { schema: Id }) id: string) {
    return this.services.notifications.acknowledge(actor, id);
  }
}
