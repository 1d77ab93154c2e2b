import type { ModelMessage } from '@echelon/agent-loop';
import type { SessionRecord } from './session-record.js';
import { noteRecord, restoreState, type SessionState } from './session-state.js';
import type { SessionStore } from './session-store.js';

/** The records of one session, with what they add up to. */
export class SessionLog {
  state: SessionState;
  /** How often something was stored here: what was begun at another version is out of date. */
  version = 0;

  constructor(
    private readonly store: SessionStore,
    readonly id: string,
  ) {
    this.state = restoreState(store.read(id));
  }

  /** Stores what the running loop keeps in its own history. The first prompt that is sent, not one that a hook blocks, names the session. */
  append(records: readonly SessionRecord[]): void {
    this.version++;
    this.store.append(this.id, records, new Date());
    const prompt = records.find((record) => record.type === 'message');
    if (prompt !== undefined && records.some(({ type }) => type === 'request')) this.name(textOf(prompt.message));
  }

  /** Stores and counts at once what no loop keeps. */
  note(record: SessionRecord): void {
    this.append([record]);
    noteRecord(this.state, record);
  }

  /** After a turn: the state is what is stored, and nothing else. */
  reload(): void {
    this.state = restoreState(this.store.read(this.id));
  }

  name(prompt: string): void {
    this.store.nameAfter(this.id, prompt);
  }

  storeArtifact(callId: string, text: string): void {
    this.store.storeArtifact(this.id, callId, text);
  }
}

function textOf({ parts }: ModelMessage): string {
  return parts.flatMap((part) => (part.type === 'text' ? [part.text] : [])).join(' ');
}
