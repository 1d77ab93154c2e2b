import { Controller, Get, Inject, Query, Req, Res } from '@nestjs/common';
import { ApiExcludeController } from '@nestjs/swagger';
import type { Request, Response } from 'express';
import { z } from 'zod';
import { Public } from '../http/caller.js';
import { Gate } from '../http/gate.js';
import { ProblemError } from '../http/problem.js';
import { cookieOptions, SIGN_IN_COOKIE } from '../http/sign-in-cookie.js';
import { renderPage } from './page.js';

const SignIn = z.strictObject({ token: z.string().min(1).max(512) });
type SignIn = z.infer<typeof SignIn>;

/** Exchanges the link that the first start prints for a cookie. */
@ApiExcludeController()
@Public()
@Controller()
export class SignInController {
  constructor(@Inject(Gate) private readonly gate: Gate) {}

  @Get('sign-in')
  async signIn(@Query({ schema: SignIn }) { token }: SignIn, @Req() request: Request, @Res() response: Response): Promise<void> {
    response.setHeader('Cache-Control', 'no-store');
    if (await this.#isOperators(request, token)) {
      response.cookie(SIGN_IN_COOKIE, token, cookieOptions(request)).redirect(303, '/');
      return;
    }
    const advice =
      '<p>Run <code>npm run echelon -- token issue</code> and open <code>/sign-in?token=…</code> with the secret that it prints.</p>';
    response.status(401).type('html').send(renderPage('This sign-in link is not valid', advice));
  }

  @Get('sign-out')
  signOut(@Req() request: Request, @Res() response: Response): void {
    response.setHeader('Cache-Control', 'no-store');
    response.clearCookie(SIGN_IN_COOKIE, cookieOptions(request)).redirect(303, '/');
  }

  async #isOperators(request: Request, token: string): Promise<boolean> {
    try {
      return (await this.gate.admitSecret(request, token)).actor.kind === 'operator';
    } catch (error) {
      if (error instanceof ProblemError && error.code === 'UNAUTHENTICATED') return false;
      throw error;
    }
  }
}
