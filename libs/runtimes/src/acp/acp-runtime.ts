/** The runtime `acp` (agentctl): a worker starts an agent's own program for each turn and drives it over the Agent Client Protocol. */
import { mkdir } from 'node:fs/promises';
import path from 'node:path';
import type { McpServer } from '@agentclientprotocol/sdk/unstable';
import { createToolRegistry } from '@echelon/agent-loop';
import type { EventBus } from '@echelon/messaging';
import {
  type AgentRuntime,
  type ClaimedTurn,
  issueTurnToken,
  loadStartingPoint,
  type Transactions,
  type TurnReport,
  type TurnSignals,
  type TurnStop,
} from '@echelon/orchestration';
import type { Database } from '@echelon/persistence';
import type { ToolCatalogue } from '@echelon/tools';
import { deriveTurnContract } from '../turn-contract.js';
import { type AcpTimes, AcpTurn } from './acp-turn.js';
import { notStarted } from './turn-stop.js';

export interface AcpRuntimeOptions {
  readonly database: Database;
  readonly transactions: Transactions;
  readonly bus: EventBus;
  readonly catalogue: ToolCatalogue;
  /** Folder that holds the task folders. */
  readonly workspaceRoot: string;
  /** Where an agent on this machine reaches our MCP endpoint; `null` where that is not known. */
  readonly mcpUrl: string | null;
  /** Names of variables of this process that agents may see beside `PATH`, `HOME` and the like. */
  readonly variables: readonly string[];
  /** What a prompt may still use once the process hands over; then its turn is interrupted (K23). */
  readonly handOverMs: number;
  readonly times?: Partial<AcpTimes>;
}

const TIMES: AcpTimes = { start: 120_000, lastWords: 5_000, grace: 3_000 };
const NO_URL = 'ECHELON_MCP_URL is not set, and the port to listen on is not fixed: the agent cannot be told where its tools are';
const SENT_BEFORE = 'its prompt may have been sent before';

export class AcpRuntime implements AgentRuntime {
  constructor(private readonly options: AcpRuntimeOptions) {}

  async run(claimed: ClaimedTurn, signals: TurnSignals): Promise<TurnReport> {
    if (signals.stop.aborted) return ended({ reason: 'cancelled', by: 'stop' });
    if (claimed.turn.system_prompt !== null) return ended({ reason: 'interrupted', explanation: SENT_BEFORE });
    const { database, transactions, catalogue, mcpUrl, handOverMs, times } = this.options;
    const [contract, { history }] = await database.together((tx) =>
      Promise.all([
        deriveTurnContract(tx, claimed, (of) => createToolRegistry(catalogue.toolsFor(of)).specifications),
        loadStartingPoint(tx, claimed),
      ]),
    );
    const { command } = contract.profile;
    if (command === null) return ended(notStarted('the session’s profile names no command any more'));
    const mcpServers: McpServer[] = [];
    if (contract.specifications.length > 0) {
      if (mcpUrl === null) return ended(notStarted(NO_URL));
      const token = await issueTurnToken(transactions, claimed);
      if (typeof token === 'string') return ended(toRefusal(token));
      mcpServers.push(toMcpServer(mcpUrl, token.secret));
    }
    const cwd = path.join(this.options.workspaceRoot, claimed.task.folder);
    await mkdir(cwd, { recursive: true });
    const turn = {
      ...this.options,
      claimed,
      signals,
      contract,
      history,
      command,
      cwd,
      mcpServers,
      handOverMs,
      times: { ...TIMES, ...times },
    };
    return new AcpTurn(turn).run();
  }
}

function ended(stop: TurnStop): TurnReport {
  return { stop, record: () => Promise.resolve() };
}

function toRefusal(fence: 'lost' | 'stopped'): TurnStop {
  if (fence === 'stopped') return { reason: 'cancelled', by: 'stop' };
  return { reason: 'error', kind: 'lease_lost', message: 'another worker owns the session' };
}

function toMcpServer(url: string, secret: string): McpServer {
  return { type: 'http', name: 'echelon', url, headers: [{ name: 'Authorization', value: `Bearer ${secret}` }] };
}
