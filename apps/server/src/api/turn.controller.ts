import { Controller, Get, Inject, Param, Post } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import { Id, Turn } from '@echelon/contracts';
import type { Actor, Services } from '@echelon/orchestration';
import { AgentsToo, CurrentActor } from '../http/caller.js';
import { Operation } from '../openapi/operation.js';
import { SERVICES } from './services-token.js';

@ApiTags('turns')
@Controller('api/v1/turns')
export class TurnController {
  constructor(@Inject(SERVICES) private readonly services: Services) {}

  @Get(':id')
  @AgentsToo()
  @Operation({ summary: 'Get a turn', returns: Turn })
  getTurn(@CurrentActor() actor: Actor, @Param('id', { schema: Id }) id: string) {
    return this.services.turns.get(actor, id);
  }

  @Post(':id/stop')
  @Operation({
    summary: 'Stop a turn',
    description: 'Names the turn by its id, so that a late stop cannot hit the next one.',
    returns: Turn,
  })
  stopTurn(@CurrentActor() actor: Actor, @Param('id', { schema: Id }) id: string) {
    return this.services.turns.stop(actor, id);
  }
}
