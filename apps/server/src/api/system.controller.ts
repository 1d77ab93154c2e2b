import { Controller, Get, Inject } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import { InvariantReport, WorkspaceRoots } from '@echelon/contracts';
import type { Actor, Services } from '@echelon/orchestration';
import { CurrentActor } from '../http/caller.js';
import { Operation } from '../openapi/operation.js';
import { SERVICES } from './services-token.js';

@ApiTags('system')
@Controller('api/v1/system')
export class SystemController {
  constructor(@Inject(SERVICES) private readonly services: Services) {}

  @Get('invariants')
  @Operation({
    summary: 'Check the invariants of the contract',
    description:
      'Runs every invariant as SQL on one snapshot of the live database and names at most 100 offending rows of each. It reads whole tables: ' +
      'one check at a time per server process (CONFLICT), and no query longer than ten seconds (CONFLICT).',
    returns: InvariantReport,
  })
  checkInvariants(@CurrentActor() actor: Actor) {
    return this.services.system.checkInvariants(actor);
  }

  @Get('workspace-roots')
  @Operation({
    summary: 'List the roots of task folders',
    description: 'Where task folders lie, how many live workers reach each place, and how many sessions wait there. For operators.',
    returns: WorkspaceRoots,
  })
  listWorkspaceRoots(@CurrentActor() actor: Actor) {
    return this.services.system.listWorkspaceRoots(actor);
  }
}
