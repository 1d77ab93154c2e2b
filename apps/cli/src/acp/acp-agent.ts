/** The Agent Client Protocol, method by method: each translates to one call of the sessions and back. */
import { agent, type AgentApp, type AgentCapabilities, methods, PROTOCOL_VERSION } from '@agentclientprotocol/sdk/unstable';
import type { AcpSessions } from './acp-sessions.js';
import { toPromptParts } from './prompt-content.js';
import { parseMode, toModeState } from './session-modes.js';

const CAPABILITIES: AgentCapabilities = {
  loadSession: true,
  promptCapabilities: { embeddedContext: true, image: false, audio: false },
  mcpCapabilities: { http: false, sse: false },
  sessionCapabilities: { list: {}, resume: {}, close: {}, delete: {} },
};

export function createAcpAgent(sessions: AcpSessions, version: string): AgentApp {
  const { initialize, session } = methods.agent;
  return agent({ name: 'echelon' })
    .onRequest(initialize, ({ params }) => {
      sessions.takesNotices = (params.clientCapabilities?.session?.notices ?? null) !== null;
      return {
        protocolVersion: PROTOCOL_VERSION,
        agentCapabilities: CAPABILITIES,
        agentInfo: { name: 'echelon', title: 'Echelon', version },
        authMethods: [],
      };
    })
    .onRequest(session.new, ({ params }) => {
      const { id, mode } = sessions.create(params);
      return { sessionId: id, modes: toModeState(mode) };
    })
    .onRequest(session.load, async ({ params, client }) => {
      const opened = await sessions.reopen(params.sessionId, params);
      await opened.replay(client);
      return { modes: toModeState(opened.mode) };
    })
    .onRequest(session.resume, async ({ params }) => {
      const { mode } = await sessions.reopen(params.sessionId, params);
      return { modes: toModeState(mode) };
    })
    .onRequest(session.list, ({ params }) => sessions.list(params.cwd, params.cursor))
    .onRequest(session.setMode, async ({ params, client }) => {
      await sessions.get(params.sessionId).setMode(parseMode(params.modeId), client);
      return {};
    })
    .onRequest(session.prompt, ({ params, client, signal }) =>
      sessions.get(params.sessionId).prompt(toPromptParts(params.prompt), client, signal),
    )
    .onNotification(session.cancel, ({ params }) => sessions.find(params.sessionId)?.cancel())
    .onRequest(session.close, async ({ params }) => {
      await sessions.close(params.sessionId);
      return {};
    })
    .onRequest(session.delete, async ({ params }) => {
      await sessions.delete(params.sessionId);
      return {};
    });
}
