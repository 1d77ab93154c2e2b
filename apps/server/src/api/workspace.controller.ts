import { Body, Controller, Delete, Get, Inject, Param, Post, Put, Query } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import { CreateWorkspace, Id, PageQuery, pageOf, Workspace, WorkspaceGrant } from '@echelon/contracts';
import type { Actor, Services } from '@echelon/orchestration';
import { AgentsToo, type Caller, CurrentActor, CurrentCaller } from '../http/caller.js';
import { IdempotencyKey, TakesIdempotencyKey } from '../http/idempotency-key.js';
import { Operation } from '../openapi/operation.js';
import { runOnce } from './run-once.js';
import { SERVICES } from './services-token.js';

@ApiTags('workspaces')
@Controller('api/v1/workspaces')
export class WorkspaceController {
  constructor(@Inject(SERVICES) private readonly services: Services) {}

  @Post()
  @TakesIdempotencyKey()
  @Operation({ summary: 'Create a workspace', returns: Workspace, status: 201 })
  createWorkspace(
    @CurrentCaller() caller: Caller,
    @IdempotencyKey() key: string | null,
    @Body({ schema: CreateWorkspace }) body: CreateWorkspace,
  ) {
    return runOnce(this.services.idempotency, { caller, key, intention: 'create_workspace', body }, () =>
      this.services.workspaces.create(caller.actor, body),
    );
  }

  @Get()
  @AgentsToo()
  @Operation({ summary: 'List workspaces', returns: pageOf(Workspace) })
  listWorkspaces(@CurrentActor() actor: Actor, @Query({ schema: PageQuery }) query: PageQuery) {
    return this.services.workspaces.list(actor, query);
  }

  @Get(':id')
  @AgentsToo()
  @Operation({ summary: 'Get a workspace', returns: Workspace })
  getWorkspace(@CurrentActor() actor: Actor, @Param('id', { schema: Id }) id: string) {
    return this.services.workspaces.get(actor, id);
  }

  @Get(':id/grants')
  @Operation({ summary: 'List the workspaces whose tasks this workspace’s tasks may send messages to', returns: pageOf(WorkspaceGrant) })
  listGrants(@CurrentActor() actor: Actor, @Param('id', { schema: Id }) id: string) {
    return this.services.workspaces.listGrants(actor, id);
  }

  @Put(':id/grants/:to')
  @Operation({
    summary: 'Let a workspace’s tasks send messages to another one’s',
    description:
      'Messages only, in this direction only: nothing of the other workspace can be listed, read or changed. Again, it changes nothing.',
    returns: WorkspaceGrant,
  })
  grant(@CurrentActor() actor: Actor, @Param('id', { schema: Id }) id: string, @Param('to', { schema: Id }) to: string) {
    return this.services.workspaces.grant(actor, id, to);
  }

  @Delete(':id/grants/:to')
  @Operation({ summary: 'Take such a grant back', returns: WorkspaceGrant })
  revokeGrant(@CurrentActor() actor: Actor, @Param('id', { schema: Id }) id: string, @Param('to', { schema: Id }) to: string) {
    return this.services.workspaces.revokeGrant(actor, id, to);
  }
}
