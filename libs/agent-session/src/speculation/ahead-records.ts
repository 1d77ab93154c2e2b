/** What a run ahead would have stored and shown, kept in memory until it is taken over. */
import {
  type ArtifactStore,
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

export class AheadRecords {
  readonly records: SessionRecord[] = [];
  readonly artifacts = new Map<string, string>();
  private readonly shown: LoopEvent[] = [];
  /** Where the output of the last request begins. */
  private requested = 0;
  private readonly stored: SessionJournal;

  constructor({ number, promptId, sendType }: OpenTurn) {
    this.records.push({ type: 'turn', number, prompt_id: promptId, send_type: sendType });
    this.stored = new SessionJournal((records) => this.records.push(...records), new SessionInbox());
  }

  get events(): readonly LoopEvent[] {
    return this.shown;
  }

  /** What the turn adds to the history; a call without a result has one that says so. */
  get messages(): readonly ModelMessage[] {
    const end: SessionRecord = { type: 'turn_end', reason: '', counters: null };
    return pairHistory(restoreState([...this.records, end]).history);
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
  show(event: LoopEvent): void {
    if (event.type === 'attempt_abandoned') this.shown.splice(this.requested);
    else this.shown.push(event);
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
