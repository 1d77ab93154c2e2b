/** What is stored of a session of this machine, in order. A record is never changed; the state of a session is what its records add up to. */
import type { LoopCounters, ModelMessage, SealedResponse, SendType, SettledCall, TextPart } from '@echelon/agent-loop';
import type { PermissionMode } from '@echelon/domain';
import type { Todo } from './todo-list.js';

/** How a turn ended: the loop's stop reason, or `interrupted` where the process died. */
export interface TurnEndRecord {
  readonly type: 'turn_end';
  readonly reason: string;
  readonly counters: LoopCounters | null;
}

export type SessionRecord =
  /** `prompt`: what a person opens it with, until its first request stores that as a message. */
  | {
      readonly type: 'turn';
      readonly number: number;
      readonly prompt_id: string;
      readonly send_type: SendType;
      readonly prompt?: readonly TextPart[];
    }
  /** What opens a turn or goes on with it; `said` by a person while the turn ran. */
  | { readonly type: 'message'; readonly message: ModelMessage; readonly said?: 'lead' | 'input' }
  | { readonly type: 'request'; readonly round: number; readonly model: string; readonly counters: LoopCounters }
  | { readonly type: 'response'; readonly response: SealedResponse }
  | { readonly type: 'intents'; readonly call_ids: readonly string[] }
  | { readonly type: 'results'; readonly results: readonly SettledCall[] }
  /** A command as its tool described it, so that a later process can end what is left of it. */
  | { readonly type: 'process'; readonly call_id: string; readonly process: object }
  /** The oldest part of the history became a summary: it, the instructions, and the last `kept` messages with their results stay. */
  | {
      readonly type: 'compaction';
      readonly summary: ModelMessage;
      readonly instructions: readonly ModelMessage[];
      readonly kept: number;
      readonly counters: LoopCounters;
    }
  /** What a request of a subagent of the turn used. */
  | { readonly type: 'subagent_use'; readonly tokens: number; readonly cost: number }
  | { readonly type: 'mode'; readonly mode: PermissionMode }
  | { readonly type: 'grant'; readonly grant: string }
  | { readonly type: 'todos'; readonly todos: readonly Todo[] }
  /** The last response of a failed turn is asked for anew (W11). */
  | { readonly type: 'dropped_response' }
  | TurnEndRecord;
