/** Against DNS rebinding and foreign pages: only known names reach us, and only known pages may call us (architecture.md §7). */
import type { NextFunction, Request, Response } from 'express';
import { ProblemError, sendProblem } from './problem.js';

const LOOPBACK = ['localhost', '127.0.0.1', '[::1]'];
/** Probes come with whatever name the orchestrator has; these answers reveal nothing. */
const UNCHECKED = new Set(['/healthz', '/readyz']);

export class HostCheck {
  readonly #allowed: Set<string>;

  constructor(allowedHosts: readonly string[]) {
    this.#allowed = new Set([...LOOPBACK, ...allowedHosts.map((host) => host.toLowerCase())]);
  }

  /** The address listened on is a known name, unless it means "every address". */
  allow(host: string): void {
    if (host !== '0.0.0.0' && host !== '::') this.#allowed.add(host.includes(':') ? `[${host}]` : host.toLowerCase());
  }

  readonly middleware = (request: Request, response: Response, next: NextFunction): void => {
    if (UNCHECKED.has(request.path)) return next();
    const refused = this.#refusal(request);
    if (!refused) return next();
    sendProblem(response, new ProblemError(refused));
  };

  #refusal({ headers }: Request): 'HOST_NOT_ALLOWED' | 'ORIGIN_NOT_ALLOWED' | null {
    if (!this.#allowed.has(hostnameOf(`http://${headers.host ?? ''}`))) return 'HOST_NOT_ALLOWED';
    return headers.origin === undefined || this.#allowed.has(hostnameOf(headers.origin)) ? null : 'ORIGIN_NOT_ALLOWED';
  }
}

function hostnameOf(url: string): string {
  return URL.parse(url)?.hostname ?? '';
}
