import type { Request, Response } from 'express';
import type { Gate } from '../http/gate.js';
import { recheckToken } from '../http/token-recheck.js';
import type { Metrics } from '../metrics.js';
import type { EventHub, JoinOptions } from './event-hub.js';
import { EventStream } from './event-stream.js';

/** Opens responses as event streams and keeps them joined to the hub until either side ends. */
export class EventStreams {
  constructor(
    private readonly hub: EventHub,
    private readonly gate: Gate,
    private readonly metrics: Metrics,
    private readonly maxBacklogBytes: number,
  ) {}

  async open(request: Request, response: Response, options: JoinOptions): Promise<void> {
    response.writeHead(200, {
      'Content-Type': 'text/event-stream; charset=utf-8',
      'Cache-Control': 'no-cache, no-transform',
      'X-Accel-Buffering': 'no',
    });
    response.flushHeaders();
    const stream = new EventStream(response, options, this.maxBacklogBytes);
    recheckToken(this.gate, { request, response, end: () => stream.end() });
    response.once('close', () => {
      this.hub.leave(stream);
      this.metrics.eventStreams.set(this.hub.size);
    });
    await this.hub.join(stream, options);
    this.metrics.eventStreams.set(this.hub.size);
  }
}
