import { Readable, Writable } from 'node:stream';
import { SessionStore } from '@echelon/agent-session';
import { ndJsonStream } from '@agentclientprotocol/sdk/unstable';
import type { LocalSetup } from '../local/local-options.js';
import type { Terminal } from '../terminal.js';
import { createAcpAgent } from './acp-agent.js';
import { AcpSessions } from './acp-sessions.js';

const STOPPING = ['SIGINT', 'SIGTERM'] as const;

/** Serves one editor until it closes stdin, or the process is told to end; then nothing is left running. */
export async function serveAcp(setup: LocalSetup, terminal: Terminal, version: string): Promise<void> {
  const store = SessionStore.open(setup.sessionsFolder);
  const sessions = new AcpSessions({ store, setup, log: (line) => terminal.err.write(`${line}\n`) });
  const stream = ndJsonStream(Writable.toWeb(terminal.out), Readable.toWeb(process.stdin) as ReadableStream<Uint8Array>);
  const connection = createAcpAgent(sessions, version).connect(stream);
  const end = (): void => connection.close();
  for (const signal of STOPPING) process.once(signal, end);
  try {
    await connection.closed;
    await sessions.closeAll();
  } finally {
    for (const signal of STOPPING) process.off(signal, end);
    process.stdin.destroy();
    store.close();
  }
}
