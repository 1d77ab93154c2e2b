import { createParamDecorator, type ExecutionContext, SetMetadata } from '@nestjs/common';
import type { Actor } from '@echelon/orchestration';
import type { Request } from 'express';

/** Who sent a request, as its token says. */
export interface Caller {
  readonly actor: Actor;
  readonly tokenId: string;
}

export interface AuthenticatedRequest extends Request {
  caller?: Caller;
}

/** Who may call a route: only operators unless it says otherwise. */
export type Access = 'public' | 'operators' | 'operators_and_agents';
export const ACCESS = 'echelon:access';

/** No token is asked for. */
export const Public = () => SetMetadata(ACCESS, 'public' satisfies Access);
/** Agents' session tokens may call it too; what they see and may do is the service's decision. */
export const AgentsToo = () => SetMetadata(ACCESS, 'operators_and_agents' satisfies Access);

function callerOf(context: ExecutionContext): Caller {
  const { caller } = context.switchToHttp().getRequest<AuthenticatedRequest>();
  if (!caller) throw new Error('a route that is public has no caller');
  return caller;
}

export const CurrentCaller = createParamDecorator((_data: unknown, context: ExecutionContext) => callerOf(context));
export const CurrentActor = createParamDecorator((_data: unknown, context: ExecutionContext) => callerOf(context).actor);
