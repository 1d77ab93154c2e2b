/**
 * One turn of an agent over ACP.
 *
 * X1  The agent is given our MCP endpoint with a token of its turn, exactly where its contract offers tools, and nothing else. What it
 *     finds there the token's contract decides, whatever its prompt says (D4).
 * X2  Its prompt is sent at most once: that it will be is stored before.
 * X3  No process of it outlives the turn, the lease or this process (K4, K21).
 * X4  A turn that asked has ended (K6b): the agent gets a moment to say its last words, then its prompt is cancelled.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { RequestError, type McpServer, type RequestPermissionRequest, type SessionUpdate } from '@agentclientprotocol/sdk/unstable';
import { type LoopEvent, type ModelMessage, NEW_COUNTERS } from '@echelon/agent-loop';
import type { EventBus } from '@echelon/messaging';
import {
  type Asked,
  type ClaimedTurn,
  hasAskedParent,
  type Transactions,
  TurnJournal,
  type TurnReport,
  type TurnSignals,
  type TurnStop,
  watchAsked,
} from '@echelon/orchestration';
import { type Database, insertAudit, storeAgentSession } from '@echelon/persistence';
import { publishLive } from '../live-events.js';
import type { TurnContract } from '../turn-contract.js';
import { AgentConnection, AgentUnusableError, describe, type OpenedSession } from './agent-connection.js';
import { Cuts } from './cuts.js';
import { answerPermission } from './permission.js';
import { toPrompt } from './prompt.js';
import { NO_USAGE, RecordWriter } from './record-writer.js';
import { Transcript } from './transcript.js';
import { type Cut, FINISH_REASONS, notStarted, type PromptEnd, toStop } from './turn-stop.js';

/** Milliseconds. */
export interface AcpTimes {
  /** An agent that has not opened its session by then is not coming. */
  readonly start: number;
  /** From a question to the end of the turn that asked it. */
  readonly lastWords: number;
  /** From a cancel to the end of the process, and from SIGTERM to SIGKILL. */
  readonly grace: number;
}

export interface AcpTurnOptions {
  readonly claimed: ClaimedTurn;
  readonly signals: TurnSignals;
  readonly contract: TurnContract;
  readonly history: readonly ModelMessage[];
  readonly command: readonly string[];
  /** The task's folder. */
  readonly cwd: string;
  readonly mcpServers: readonly McpServer[];
  readonly variables: readonly string[];
  readonly database: Database;
  readonly transactions: Transactions;
  readonly bus: EventBus;
  readonly times: AcpTimes;
  readonly handOverMs: number;
}

const UNUSED: PromptEnd = { end: 'failed', message: 'the prompt was not answered' };

export class AcpTurn {
  readonly #transcript: Transcript;
  readonly #writer: RecordWriter;
  readonly #journal: TurnJournal;
  readonly #cuts: Cuts;
  readonly #publish: (event: LoopEvent) => void;
  #sessionId: string | null = null;
  #asked: Asked | null = null;

  constructor(private readonly options: AcpTurnOptions) {
    const { claimed, signals, contract, transactions, bus, handOverMs } = options;
    this.#transcript = new Transcript(`t${claimed.turn.number}`);
    const seconds = contract.profile.budgets['max_wall_seconds'];
    this.#cuts = new Cuts(signals, { handOverMs, wallMs: seconds ? seconds * 1_000 : null });
    this.#journal = new TurnJournal(transactions, claimed, (unit) => {
      contract.keep?.(unit);
      if (this.#sessionId !== null) storeAgentSession(unit, claimed.session.id, this.#sessionId);
    });
    this.#writer = new RecordWriter({
      journal: this.#journal,
      model: contract.profile.model,
      onLost: () => this.#cuts.cut('lost'),
      onStopped: () => this.#cuts.cut('stopped'),
    });
    this.#publish = publishLive(bus, claimed);
  }

  /** Runs the turn; when it returns nothing of the agent is left. */
  async run(): Promise<TurnReport> {
    const { command, cwd, variables, times } = this.options;
    const hooks = {
      onUpdate: (update: SessionUpdate) => this.#take(update),
      onPermission: (asked: RequestPermissionRequest) => this.#permit(asked),
    };
    const agent = await AgentConnection.start({ command, cwd, variables, ...hooks }).catch(describe);
    if (typeof agent === 'string') return unsent(notStarted(agent));
    try {
      return await this.#drive(agent);
    } finally {
      await agent.end(this.#cuts.at === 'lost' ? 0 : times.grace);
      this.#cuts.close();
    }
  }

  async #drive(agent: AgentConnection): Promise<TurnReport> {
    const opened = await this.#open(agent);
    if ('reason' in opened) return unsent(opened);
    this.#sessionId = opened.id;
    const refused = await this.#begin();
    if (refused) return unsent(refused);
    const { database, bus, claimed, times } = this.options;
    const onAsked = (whom: Asked): void => {
      this.#asked ??= whom;
      this.#cuts.cutIn(`asked_${whom}`, times.lastWords);
    };
    const leave = await watchAsked({ database, bus, claimed, onAsked, onError: () => undefined });
    try {
      return await this.#report(await this.#prompt(agent, opened));
    } finally {
      leave();
    }
  }

  /** Opens the agent's session, unless the turn is to end before: then nothing was sent, and another worker may begin it. */
  async #open(agent: AgentConnection): Promise<OpenedSession | TurnStop> {
    const { claimed, cwd, mcpServers, times, signals } = this.options;
    const opening = agent.open(cwd, [...mcpServers], claimed.session.agent_session_id).catch(async (error: unknown) => {
      if (error instanceof RequestError || error instanceof AgentUnusableError) return notStarted(describe(error));
      await agent.end(0);
      return notStarted(await agent.gone());
    });
    const waiting = new AbortController();
    const late = sleep(times.start, null, { signal: waiting.signal }).then(
      () => notStarted(`the agent has not opened a session within ${times.start / 1_000} s`),
      () => UNREACHED,
    );
    const handedOver = aborted(signals.handOver, waiting.signal).then((): TurnStop => ({ reason: 'handed_over' }));
    const cut = this.#cuts.first.then((at) => toStop(at, UNUSED, false));
    const gone = agent.gone().then(notStarted);
    try {
      return await Promise.race([opening, gone, cut, handedOver, late]);
    } finally {
      waiting.abort();
    }
  }

  /** Stores that the prompt is sent now, with what the turn was derived as (X2); gives why it may not be sent. */
  async #begin(): Promise<TurnStop | null> {
    const { claimed, contract } = this.options;
    const { status } = await this.#journal.prepareRequest({
      promptId: claimed.turn.id,
      sendType: 'user',
      model: contract.profile.model,
      round: 0,
      attempt: 1,
      counters: NEW_COUNTERS,
      response: null,
      results: [],
      messages: [],
    });
    if (status === 'committed') return null;
    return toStop(status === 'lost' ? 'lost' : 'stopped', UNUSED, false);
  }

  async #prompt(agent: AgentConnection, { id, resumed }: OpenedSession): Promise<PromptEnd> {
    const { contract, history, times } = this.options;
    const prompt = toPrompt({ systemPrompt: contract.systemPrompt, history, remembers: resumed });
    const answering = agent.prompt(id, prompt);
    const ended = await Promise.race([answering, this.#cuts.first]);
    if (typeof ended !== 'string') return ended;
    if (ended === 'lost') await agent.end(0);
    else {
      await agent.cancel(id);
      const waiting = new AbortController();
      const late = sleep(times.grace, null, { signal: waiting.signal }).catch(() => null);
      await Promise.race([answering, this.#cuts.lost, late]);
      waiting.abort();
      await agent.end(0);
    }
    return answering;
  }

  /** Takes down what is left to write, and tells how the turn ended. */
  async #report(ended: PromptEnd): Promise<TurnReport> {
    this.#writer.write(this.#transcript.close());
    await this.#writer.written();
    const { failure } = this.#writer;
    if (failure !== null) return unsent({ reason: 'error', kind: 'persistence', message: describe(failure) });
    const { database, claimed } = this.options;
    const asked = (await hasAskedParent(database, claimed.turn.id)) ? 'parent' : this.#asked;
    const cut = whatCounts(this.#cuts.at, asked && `asked_${asked}`);
    const answered = ended.end === 'answered' ? ended : null;
    const seal = {
      reason: answered ? FINISH_REASONS[answered.stopReason] : ('interrupted' as const),
      rawReason: answered?.stopReason ?? null,
      usage: answered?.usage ?? NO_USAGE,
    };
    return { stop: toStop(cut, ended, this.#transcript.spoke), record: (unit) => this.#writer.settle(unit, seal) };
  }

  #take(update: SessionUpdate): void {
    if (update.sessionUpdate === 'agent_message_chunk' && update.content.type === 'text')
      this.#publish({ type: 'content', text: update.content.text });
    if (update.sessionUpdate === 'agent_thought_chunk' && update.content.type === 'text')
      this.#publish({ type: 'thought', text: update.content.text });
    this.#writer.write(this.#transcript.apply(update));
  }

  #permit(request: RequestPermissionRequest) {
    const { response, rejected } = answerPermission(request);
    if (rejected !== null) this.#noteRejection(request, rejected);
    return response;
  }

  /** Who decided what is on record (operations.md); that it is not written changes nothing of the decision. */
  #noteRejection({ toolCall }: RequestPermissionRequest, reason: string): void {
    const { claimed, transactions } = this.options;
    const { workspace_id: workspaceId, id: turnId } = claimed.turn;
    const detail = { call: toolCall.toolCallId, tool: toolCall.name ?? toolCall.title ?? null, reason };
    transactions
      .run((unit) => insertAudit(unit, { workspaceId, actor: 'system', action: 'permission.reject', subject: turnId, detail }))
      .catch(() => undefined);
  }
}

/** A turn that asked has ended with its question, however its agent then ended, unless it was stopped or is another worker's. */
function whatCounts(cut: Cut | null, asked: Cut | null): Cut | null {
  return cut === 'lost' || cut === 'stopped' ? cut : (asked ?? cut);
}

const UNREACHED: TurnStop = { reason: 'handed_over' };

function unsent(stop: TurnStop): TurnReport {
  return { stop, record: () => Promise.resolve() };
}

/** Resolves when the signal aborts; stays open where nobody waits any more. */
function aborted(signal: AbortSignal, until: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve();
    else signal.addEventListener('abort', () => resolve(), { once: true, signal: until });
  });
}
