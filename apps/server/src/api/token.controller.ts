import { Body, Controller, Delete, Get, Inject, Param, Post, Query } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import { Id, IssuedToken, IssueToken, PageQuery, pageOf, Token } from '@echelon/contracts';
import { isRefusal, refuse } from '@echelon/domain';
import type { Actor, Outcome, Services } from '@echelon/orchestration';
import { type Caller, CurrentActor, CurrentCaller } from '../http/caller.js';
import { IdempotencyKey, TakesIdempotencyKey } from '../http/idempotency-key.js';
import { Operation } from '../openapi/operation.js';
import { runOnce } from './run-once.js';
import { SERVICES } from './services-token.js';

@ApiTags('tokens')
@Controller('api/v1/tokens')
export class TokenController {
  constructor(@Inject(SERVICES) private readonly services: Services) {}

  @Post()
  @TakesIdempotencyKey()
  @Operation({
    summary: 'Issue a token',
    description:
      'The secret is shown this once and kept nowhere: a repeated key is refused with CONFLICT and the id of the token that it issued.',
    returns: IssuedToken,
    status: 201,
  })
  async issueToken(
    @CurrentCaller() caller: Caller,
    @IdempotencyKey() key: string | null,
    @Body({ schema: IssueToken }) body: IssueToken,
  ): Promise<Outcome<IssuedToken>> {
    let secret: string | null = null;
    const token = await runOnce<Token>(this.services.idempotency, { caller, key, intention: 'issue_token', body }, async () => {
      const issued = await this.services.tokens.issue(caller.actor, body);
      if (isRefusal(issued)) return issued;
      const { secret: shown, ...rest } = issued;
      secret = shown;
      return rest;
    });
    if (isRefusal(token)) return token;
    return secret === null ? refuse('CONFLICT', { token_id: token.id, reason: 'issued_before' }) : { ...token, secret };
  }

  @Get()
  @Operation({ summary: 'List tokens', returns: pageOf(Token) })
  listTokens(@CurrentActor() actor: Actor, @Query({ schema: PageQuery }) query: PageQuery) {
    return this.services.tokens.list(actor, query);
  }

  @Delete(':id')
  @Operation({ summary: 'Revoke a token', returns: Token })
  revokeToken(@CurrentActor() actor: Actor, @Param('id', { schema: Id }) id: string) {
    return this.services.tokens.revoke(actor, id);
  }
}
