import type { Server } from 'node:http';
import type { NextFunction, Request, Response } from 'express';
import { ProblemError, sendProblem } from './problem.js';

/** Lets a closing server finish what it has begun, and turns away what comes after. */
export class Drain {
  #running = 0;
  #closing = false;
  #idle: () => void = () => undefined;

  readonly middleware = (_request: Request, response: Response, next: NextFunction): void => {
    if (this.#closing) {
      response.setHeader('Connection', 'close');
      return sendProblem(response, new ProblemError('SHUTTING_DOWN'));
    }
    this.#running += 1;
    response.once('close', () => {
      this.#running -= 1;
      if (this.#running === 0) this.#idle();
    });
    next();
  };

  /** Stops listening; resolves when nothing runs any more, or after `limitMs`. */
  async begin(server: Server, limitMs: number): Promise<void> {
    this.#closing = true;
    if (server.listening) server.close();
    server.closeIdleConnections();
    if (this.#running === 0) return;
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#idle = resolve;
    const timer = setTimeout(resolve, limitMs);
    await promise;
    clearTimeout(timer);
  }
}
