import { Controller, Get, Inject, Res } from '@nestjs/common';
import { ApiExcludeController } from '@nestjs/swagger';
import type { Response } from 'express';
import type { Health } from '../health.js';
import { Public } from '../http/caller.js';
import type { Metrics } from '../metrics.js';

export const HEALTH = Symbol('health');
export const METRICS = Symbol('metrics');

/** What an orchestrator and a monitor ask. */
@ApiExcludeController()
@Controller()
export class OperationsController {
  constructor(
    @Inject(HEALTH) private readonly health: () => Promise<Health>,
    @Inject(METRICS) private readonly metrics: Metrics,
  ) {}

  /** The process answers. */
  @Get('healthz')
  @Public()
  getLiveness(): { readonly status: 'ok' } {
    return { status: 'ok' };
  }

  /** What it stands on answers too: the database, and a worker that fetched recently. */
  @Get('readyz')
  @Public()
  async getReadiness(@Res() response: Response): Promise<void> {
    const health = await this.health();
    response.status(health.ready ? 200 : 503).json(health);
  }

  @Get('metrics')
  async getMetrics(@Res() response: Response): Promise<void> {
    const { registry } = this.metrics;
    response.setHeader('Content-Type', registry.contentType).end(await registry.metrics());
  }
}
