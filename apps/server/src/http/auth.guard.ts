import type { CanActivate, ExecutionContext } from '@nestjs/common';
import type { Reflector } from '@nestjs/core';
import { ACCESS, type Access, type AuthenticatedRequest } from './caller.js';
import type { Gate } from './gate.js';
import { ProblemError } from './problem.js';

/** Lets a request through to its handler: authenticated, within its rate, and by somebody who may call the route. */
export class AuthGuard implements CanActivate {
  constructor(
    private readonly gate: Gate,
    private readonly reflector: Reflector,
  ) {}

  async canActivate(context: ExecutionContext): Promise<boolean> {
    const access = this.reflector.getAllAndOverride<Access | undefined>(ACCESS, [context.getHandler(), context.getClass()]);
    if (access === 'public') return true;
    const request = context.switchToHttp().getRequest<AuthenticatedRequest>();
    request.caller = await this.gate.admit(request);
    if (request.caller.actor.kind === 'agent' && access !== 'operators_and_agents')
      throw new ProblemError('FORBIDDEN', { detail: 'Only an operator’s token may call this.' });
    return true;
  }
}
