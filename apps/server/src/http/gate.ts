/**
 * The gate that every request with a token passes, REST and MCP alike: who is it, and is it too fast.
 *
 * A1  A bearer token goes before a cookie; MCP takes no cookie.
 * A2  Unknown tokens are counted per address, known ones per token.
 */
import type { Services } from '@echelon/orchestration';
import type { Request } from 'express';
import type { Caller } from './caller.js';
import { ProblemError } from './problem.js';
import type { RateLimiter } from './rate-limiter.js';
import { cookieToken, isFromOwnPage } from './sign-in-cookie.js';

const BEARER = /^Bearer +([\x21-\x7e]{1,512}) *$/i;
const READS = new Set(['GET', 'HEAD']);

export class Gate {
  constructor(
    private readonly tokens: Services['tokens'],
    private readonly limiter: RateLimiter,
  ) {}

  /** The caller by bearer token; throws UNAUTHENTICATED or RATE_LIMITED. */
  async admitBearer(request: Request): Promise<Caller> {
    return this.#admit(request, bearerToken(request));
  }

  /** The caller by bearer token or, for reads and for writes of our own pages, by cookie. */
  async admit(request: Request): Promise<Caller> {
    if (request.headers.authorization !== undefined) return this.admitBearer(request);
    const secret = cookieToken(request);
    if (secret && !READS.has(request.method) && !isFromOwnPage(request))
      throw new ProblemError('ORIGIN_NOT_ALLOWED', { detail: 'A cookie writes only from a page of this server: send a bearer token.' });
    return this.#admit(request, secret);
  }

  /** The caller of a secret given in another way; counts like any other. */
  async admitSecret(request: Request, secret: string): Promise<Caller> {
    return this.#admit(request, secret);
  }

  /** Whether a long answer may go on: the token still stands. */
  async stillStands(request: Request): Promise<boolean> {
    const secret = bearerToken(request) ?? cookieToken(request);
    return secret !== null && (await this.tokens.authenticate(secret)) !== null;
  }

  async #admit(request: Request, secret: string | null): Promise<Caller> {
    const caller = secret === null ? null : await this.tokens.authenticate(secret);
    const wait = this.limiter.take(caller ? `token:${caller.tokenId}` : `address:${request.ip ?? ''}`);
    if (wait > 0) throw new ProblemError('RATE_LIMITED', { retryAfterSeconds: wait, details: { retry_after_seconds: wait } });
    if (!caller) throw new ProblemError('UNAUTHENTICATED');
    return caller;
  }
}

function bearerToken(request: Request): string | null {
  return BEARER.exec(request.headers.authorization ?? '')?.[1] ?? null;
}
