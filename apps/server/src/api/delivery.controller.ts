import { Controller, Get, Inject, Param } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import { Id, QueueEntry } from '@echelon/contracts';
import type { Actor, Services } from '@echelon/orchestration';
import { AgentsToo, CurrentActor } from '../http/caller.js';
import { Operation } from '../openapi/operation.js';
import { SERVICES } from './services-token.js';

@ApiTags('messages')
@Controller('api/v1/deliveries')
export class DeliveryController {
  constructor(@Inject(SERVICES) private readonly services: Services) {}

  @Get(':id')
  @AgentsToo()
  @Operation({ summary: 'Get what became of a message', description: '`delivery_id` of a sent message.', returns: QueueEntry })
  getDelivery(@CurrentActor() actor: Actor, @Param('id', { schema: Id }) id: string) {
    return this.services.messages.getDelivery(actor, id);
  }
}
