import { Body, Controller, Get, Inject, Param, Patch, Post, Query } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import { AgentProfile, CreateProfile, Id, pageOf, UpdateProfile } from '@echelon/contracts';
import type { Actor, Services } from '@echelon/orchestration';
import { AgentsToo, type Caller, CurrentActor, CurrentCaller } from '../http/caller.js';
import { IdempotencyKey, TakesIdempotencyKey } from '../http/idempotency-key.js';
import { Operation } from '../openapi/operation.js';
import { ListProfiles } from './requests.js';
import { runOnce } from './run-once.js';
import { SERVICES } from './services-token.js';

@ApiTags('profiles')
@Controller('api/v1/profiles')
export class ProfileController {
  constructor(@Inject(SERVICES) private readonly services: Services) {}

  @Post()
  @TakesIdempotencyKey()
  @Operation({ summary: 'Create an agent profile', returns: AgentProfile, status: 201 })
  createProfile(
    @CurrentCaller() caller: Caller,
    @IdempotencyKey() key: string | null,
    @Body({ schema: CreateProfile }) body: CreateProfile,
  ) {
    return runOnce(this.services.idempotency, { caller, key, intention: 'create_profile', body }, () =>
      this.services.profiles.create(caller.actor, body),
    );
  }

  @Get()
  @AgentsToo()
  @Operation({ summary: 'List agent profiles', returns: pageOf(AgentProfile) })
  listProfiles(@CurrentActor() actor: Actor, @Query({ schema: ListProfiles }) query: ListProfiles) {
    return this.services.profiles.list(actor, query);
  }

  @Get(':id')
  @AgentsToo()
  @Operation({ summary: 'Get an agent profile', returns: AgentProfile })
  getProfile(@CurrentActor() actor: Actor, @Param('id', { schema: Id }) id: string) {
    return this.services.profiles.get(actor, id);
  }

  @Patch(':id')
  @Operation({
    summary: 'Change an agent profile',
    description: 'Refused while autopilot tasks that have not ended use the profile and the change would break their contract.',
    returns: AgentProfile,
  })
  updateProfile(
    @CurrentActor() actor: Actor,
    @Param('id', { schema: Id }) id: string,
    @Body({ schema: UpdateProfile }) changes: UpdateProfile,
  ) {
    return this.services.profiles.update(actor, id, changes);
  }

  @Post(':id/archive')
  @Operation({ summary: 'Archive an agent profile', returns: AgentProfile })
  archiveProfile(@CurrentActor() actor: Actor, @Param('id', { schema: Id }) id: string) {
    return this.services.profiles.archive(actor, id);
  }
}
