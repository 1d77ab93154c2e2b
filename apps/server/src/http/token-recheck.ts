import type { Request, Response } from 'express';
import type { Gate } from './gate.js';

/** How often the token of a long answer is looked at again: a revoked token reads no further. */
const RECHECK_MS = 60_000;

export interface LongAnswer {
  readonly request: Request;
  readonly response: Response;
  /** Ends the answer: its token stands no more, or cannot be looked at. */
  readonly end: () => void;
}

/** Looks at the token again and again until the response closes. */
export function recheckToken(gate: Gate, { request, response, end }: LongAnswer): void {
  const recheck = setInterval(() => {
    gate.stillStands(request).then((stands) => stands || end(), end);
  }, RECHECK_MS);
  response.once('close', () => clearInterval(recheck));
}
