/** What a run ahead would have stored and shown, kept in memory until it is taken over. */
import {
  type ArtifactStore,
  type BatchPolicies,
  type Journal,
  type LoopCounters,
  type LoopEvent,
  type ModelMessage,
  pairHistory,
  type RequestBarrier,
  type Unrecorded,
} from '@echelon/agent-loop';
import { SessionInbox } from '../session-inbox.js';
import { SessionJournal } from '../session-journal.js';
import type { SessionRecord } from '../session-record.js';
import { type OpenTurn, restoreState } from '../session-state.js';
import type { SessionContext } from '../session-tool.js';
import type { TurnSurface } from '../session-turn.js';

type ShowingSurface = Pick<TurnSurface, 'onEvent' | 'policies'>;
type Shown = (surface: ShowingSurface) => unknown;

const NONE_WITHHELD: ReadonlyMap<string, string> = new Map();

export class AheadRecords {
  readonly records: SessionRecord[] = [];
  readonly artifacts = new Map<string, string>();
  private readonly shown: Shown[] = [];
  /** Where the output of the last request begins. */
  private requested = 0;
  private readonly stored: SessionJournal;

  constructor({ number, promptId, sendType }: OpenTurn) {
    this.records.push({ type: 'turn', number, prompt_id: promptId, send_type: sendType });
    this.stored = new SessionJournal((records) => this.records.push(...records), new SessionInbox());
  }

  /** What the turn adds to the history; a call without a result has one that says so. */
  get messages(): readonly ModelMessage[] {
    const end: SessionRecord = { type: 'turn_end', reason: '', counters: null };
    return pairHistory(restoreState([...this.records, end]).history);
  }

  /**
   * In two parts, one before the files change and one after: the first ends with the first intents, of all calls of that response that ran,
   * so that what is in the files and not in the second part is unknown.
   */
  get parts(): readonly [readonly SessionRecord[], readonly SessionRecord[]] {
    const { records } = this;
    const first = records.findIndex(({ type }) => type === 'intents');
    if (first === -1) return [records, []];
    const [before, from] = [records.slice(0, first), records.slice(first)];
    const next = from.findIndex(({ type }) => type === 'response');
    const batch = next === -1 ? from : from.slice(0, next);
    const intended = batch.flatMap((record) => (record.type === 'intents' ? record.call_ids : []));
    return [[...before, { type: 'intents', call_ids: intended }], from.slice(1)];
  }

  get journal(): Journal {
    const { stored } = this;
    return {
      prepareRequest: (barrier: RequestBarrier) => {
        this.requested = this.shown.length;
        return stored.prepareRequest(barrier);
      },
      sealResponse: stored.sealResponse.bind(stored),
      recordCalls: stored.recordCalls.bind(stored),
      compact: stored.compact.bind(stored),
    };
  }

  /** What an abandoned attempt said is dropped. */
  readonly onEvent = (event: LoopEvent): void => {
    if (event.type === 'attempt_abandoned') this.shown.splice(this.requested);
    else this.shown.push((surface) => surface.onEvent?.(event));
  };

  /** The callbacks of a surface that show something; what they decide is decided already. */
  readonly policies: Pick<BatchPolicies<SessionContext>, 'select' | 'onResults'> = {
    select: (calls) => {
      this.shown.push(({ policies }) => policies?.select?.(calls));
      return NONE_WITHHELD;
    },
    onResults: (results) => {
      this.shown.push(({ policies }) => policies?.onResults?.(results));
      return 'go_on';
    },
  };

  /** Shows a surface everything in its order, as if it happened now. */
  async replay(surface: ShowingSurface): Promise<void> {
    for (const show of this.shown) await show(surface);
  }

  artifactStore(nameOf: (callId: string) => string): ArtifactStore {
    return {
      store: ({ callId, text }) => {
        this.artifacts.set(callId, text);
        return Promise.resolve(nameOf(callId));
      },
    };
  }

  /** The end of the turn, or what is not stored yet of a turn that goes on. */
  finish(unrecorded: Unrecorded, end: { readonly reason: string; readonly counters: LoopCounters } | null): void {
    if (end === null) this.stored.keep(unrecorded);
    else this.stored.end(unrecorded, end.reason, end.counters);
  }
}
