import 'reflect-metadata';
import type { Server as HttpServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { NestFactory, Reflector } from '@nestjs/core';
import type { NestExpressApplication } from '@nestjs/platform-express';
import { SwaggerModule } from '@nestjs/swagger';
import helmet from 'helmet';
import { EventHub } from './events/event-hub.js';
import { EventStreams } from './events/event-streams.js';
import { allowedMethodsOf } from './http/allowed-methods.js';
import { AuthGuard } from './http/auth.guard.js';
import { Drain } from './http/drain.js';
import { Gate } from './http/gate.js';
import { HostCheck } from './http/host-check.js';
import { jsonOnly } from './http/json-only.js';
import { ProblemFilter } from './http/problem.filter.js';
import { RateLimiter } from './http/rate-limiter.js';
import { RefusalInterceptor } from './http/refusal.interceptor.js';
import { countRequests } from './http/request-metrics.js';
import { ValidationPipe } from './http/validation.pipe.js';
import { createMcpEndpoint, type McpEndpoint } from './mcp/mcp-endpoint.js';
import { createDocument } from './openapi/document.js';
import { DEFAULT_SERVER_CONFIG, type ServerConfig, type ServerOptions } from './server-options.js';
import { ServerModule } from './server.module.js';

export interface Server {
  /** Listens and returns the address; port 0 takes a free one. Rejects where the port is taken. */
  listen(host: string, port: number): Promise<{ readonly url: string; readonly port: number }>;
  /** Takes no more requests, lets those that run finish within `drainMs`, ends event streams, then closes every connection. */
  close(): Promise<void>;
}

/** Assembles REST, events, MCP and pages around the services. Nothing listens yet. */
export async function createServer(options: ServerOptions): Promise<Server> {
  const config: ServerConfig = { ...DEFAULT_SERVER_CONFIG, ...options.config };
  const gate = new Gate(options.services.tokens, new RateLimiter(config.requestsPerMinute));
  const hub = new EventHub(options.services.events, options.logger, config.heartbeatMs);
  const streams = new EventStreams(hub, gate, options.metrics, config.maxStreamBacklogBytes);
  const hosts = new HostCheck(config.allowedHosts);
  const drain = new Drain();
  const app = await NestFactory.create<NestExpressApplication>(ServerModule.of(options, gate, streams), {
    logger: false,
    abortOnError: false,
    bodyParser: false,
    forceCloseConnections: true,
  });
  const document = createDocument(app);
  const problems = new ProblemFilter(options.logger, allowedMethodsOf(document));
  const mcp = createMcpEndpoint({ ...options, gate, problems, maxBodyBytes: config.maxBodyBytes });
  useMiddleware(app, { config, options, mcp, hosts, drain });
  app.useGlobalGuards(new AuthGuard(gate, app.get(Reflector)));
  app.useGlobalPipes(new ValidationPipe());
  app.useGlobalInterceptors(new RefusalInterceptor());
  app.useGlobalFilters(problems);
  SwaggerModule.setup('api/v1/reference', app, document, {
    jsonDocumentUrl: 'api/v1/openapi.json',
    raw: ['json'],
    customSiteTitle: 'Echelon API reference',
  });
  await app.init();
  return {
    listen: (host, port) => listen(app, hosts, host, port),
    close: async () => {
      const http: HttpServer = app.getHttpServer();
      const drained = drain.begin(http, config.drainMs);
      await Promise.all([hub.close(), mcp.close()]);
      await drained;
      await app.close();
    },
  };
}

interface Middleware {
  readonly config: ServerConfig;
  readonly options: ServerOptions;
  readonly mcp: McpEndpoint;
  readonly hosts: HostCheck;
  readonly drain: Drain;
}

/** What runs before Nest's routes, in this order. */
function useMiddleware(app: NestExpressApplication, { config, options, mcp, hosts, drain }: Middleware): void {
  app.disable('x-powered-by');
  app.use(drain.middleware);
  app.use(securityHeaders());
  app.use(hosts.middleware);
  app.use('/mcp', mcp.handler);
  app.use(countRequests(options.metrics));
  app.use(jsonOnly);
  app.useBodyParser('json', { limit: config.maxBodyBytes });
}

/** We speak plain HTTP on loopback; whoever puts TLS in front adds the transport policies. */
function securityHeaders(): ReturnType<typeof helmet> {
  return helmet({
    strictTransportSecurity: false,
    contentSecurityPolicy: { directives: { upgradeInsecureRequests: null } },
  });
}

async function listen(app: NestExpressApplication, hosts: HostCheck, host: string, port: number) {
  hosts.allow(host);
  await app.listen(port, host);
  const address = app.getHttpServer().address() as AddressInfo;
  const shown = host === '0.0.0.0' || host === '::' ? 'localhost' : host.includes(':') ? `[${host}]` : host;
  return { url: `http://${shown}:${address.port}`, port: address.port };
}
