/** The sessions of one editor: those that it has open, and those that are stored. */
import { statSync } from 'node:fs';
import path from 'node:path';
import { AgentSession, type SessionStore } from '@echelon/agent-session';
import { type ListSessionsResponse, type McpServer, RequestError } from '@agentclientprotocol/sdk/unstable';
import type { LocalSetup } from '../local/local-options.js';
import { AcpSession } from './acp-session.js';
import { asRequestError } from './session-errors.js';

/** What an editor says when it begins or opens a session. */
export interface SessionRequest {
  readonly cwd: string;
  readonly mcpServers?: readonly McpServer[];
  readonly additionalDirectories?: readonly string[];
}

export interface AcpSessionsOptions {
  readonly store: SessionStore;
  readonly setup: LocalSetup;
  readonly log: (line: string) => void;
}

const PAGE = 50;

export class AcpSessions {
  /** As the editor said when it connected. */
  takesNotices = false;
  private readonly open = new Map<string, AcpSession>();

  constructor(private readonly options: AcpSessionsOptions) {}

  create(request: SessionRequest): AcpSession {
    const { store, setup } = this.options;
    return this.hold(AgentSession.create(store, checkFolder(request), setup.settings), request);
  }

  /** One that this editor holds already, or one that is stored. Throws `session_not_found`, `session_in_use`, or invalid params. */
  reopen(sessionId: string, request: SessionRequest): Promise<AcpSession> {
    return asRequestError(sessionId, async () => {
      const { store, setup } = this.options;
      if (checkFolder(request) !== store.get(sessionId).folder)
        throw RequestError.invalidParams({ code: 'other_folder', cwd: request.cwd }, 'the session works in another folder');
      return this.open.get(sessionId) ?? this.hold(await AgentSession.open(store, sessionId, setup.settings), request);
    });
  }

  /** Throws where this editor does not hold the session. */
  get(sessionId: string): AcpSession {
    const session = this.open.get(sessionId);
    if (session === undefined) throw RequestError.sessionNotFound(sessionId);
    return session;
  }

  find(sessionId: string): AcpSession | null {
    return this.open.get(sessionId) ?? null;
  }

  list(folder: string | null | undefined, cursor: string | null | undefined): ListSessionsResponse {
    const query = { folder: typeof folder === 'string' ? path.resolve(folder) : undefined, cursor: cursor ?? undefined, limit: PAGE };
    const { items, next_cursor: nextCursor } = this.options.store.list(query);
    const sessions = items.map(({ id, folder: cwd, title, updated_at: updatedAt }) => ({
      sessionId: id,
      cwd,
      title: title === '' ? null : title,
      updatedAt,
    }));
    return { sessions, ...(nextCursor === null ? {} : { nextCursor }) };
  }

  async close(sessionId: string): Promise<void> {
    const session = this.get(sessionId);
    await session.close();
    this.open.delete(sessionId);
  }

  /** Throws `session_not_found`, or `session_in_use` where another process holds it. */
  delete(sessionId: string): Promise<void> {
    return asRequestError(sessionId, async () => {
      const { store } = this.options;
      store.get(sessionId);
      if (this.open.has(sessionId)) await this.close(sessionId);
      const lock = store.lock(sessionId);
      try {
        store.delete(sessionId);
      } finally {
        lock.release();
      }
    });
  }

  /** The editor is gone: nothing is left running, and every session can be opened again. */
  async closeAll(): Promise<void> {
    await Promise.all([...this.open.values()].map((session) => session.close()));
    this.open.clear();
  }

  private hold(session: AgentSession, { mcpServers = [] }: SessionRequest): AcpSession {
    const { setup, log } = this.options;
    const warning = warnOfServers(mcpServers);
    const { takesNotices } = this;
    const held = new AcpSession(session, {
      limits: setup.limits,
      contextWindow: setup.settings.models[0]?.contextWindow,
      takesNotices,
      warning,
      log,
    });
    this.open.set(session.id, held);
    return held;
  }
}

function checkFolder({ cwd, mcpServers = [], additionalDirectories = [] }: SessionRequest): string {
  if (!path.isAbsolute(cwd)) throw RequestError.invalidParams({ code: 'relative_cwd', cwd }, 'cwd must be an absolute path');
  if (!statSync(cwd, { throwIfNoEntry: false })?.isDirectory())
    throw RequestError.invalidParams({ code: 'no_such_folder', cwd }, `there is no folder ${cwd}`);
  if (additionalDirectories.length > 0)
    throw RequestError.invalidParams({ code: 'additional_directories' }, 'this agent works in one folder only');
  const remote = mcpServers.find((server) => 'type' in server);
  if (remote !== undefined)
    throw RequestError.invalidParams({ code: 'mcp_transport', name: remote.name }, 'this agent did not offer MCP servers of this kind');
  return path.resolve(cwd);
}

function warnOfServers(servers: readonly McpServer[]): string | null {
  if (servers.length === 0) return null;
  return `Echelon does not connect to MCP servers of an editor yet: ${servers.map(({ name }) => name).join(', ')} cannot be used here.`;
}
