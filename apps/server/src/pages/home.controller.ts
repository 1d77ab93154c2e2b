import { Controller, Get, Header, Inject, Req } from '@nestjs/common';
import { ApiExcludeController } from '@nestjs/swagger';
import type { Request } from 'express';
import { Public } from '../http/caller.js';
import { Gate } from '../http/gate.js';
import { ProblemError } from '../http/problem.js';
import { escapeHtml, renderPage } from './page.js';

/** The page behind the address that `echelon up` prints. */
@ApiExcludeController()
@Public()
@Controller()
export class HomeController {
  constructor(@Inject(Gate) private readonly gate: Gate) {}

  @Get()
  @Header('Content-Type', 'text/html; charset=utf-8')
  async showHome(@Req() request: Request): Promise<string> {
    const name = await this.#signedIn(request);
    const standing = name
      ? `<p>You are signed in as <strong>${escapeHtml(name)}</strong>. <a href="/sign-out">Sign out</a></p>`
      : '<p>You are not signed in: open the sign-in link that <code>echelon up</code> printed, or send a bearer token.</p>';
    return renderPage(
      'Echelon is running',
      `${standing}
<ul>
<li><a href="/api/v1/reference">API reference</a> (<a href="/api/v1/openapi.json">OpenAPI document</a>)</li>
<li>MCP endpoint for agents: <code>/mcp</code>; <code>echelon connect</code> writes a client’s configuration</li>
<li>Next on the command line: <code>echelon task create</code>, <code>echelon task watch</code>, <code>echelon doctor</code></li>
</ul>`,
    );
  }

  async #signedIn(request: Request): Promise<string | null> {
    try {
      const { actor } = await this.gate.admit(request);
      return actor.kind === 'operator' ? actor.name : null;
    } catch (error) {
      if (error instanceof ProblemError) return null;
      throw error;
    }
  }
}
