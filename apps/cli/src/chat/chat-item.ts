/** What a chat shows, as data: the transcript's finished items, which never change again, and what is still going on. */
import type { CallStatus, StopReason } from '@echelon/agent-loop';
import type { ApprovalRequest } from '@echelon/agent-session';

export type Level = 'info' | 'warning' | 'error';

export type CallState = CallStatus | 'waiting' | 'running';

export interface ShownCall {
  readonly callId: string;
  readonly tool: string;
  /** Says in words what it does, on one line. */
  readonly title: string;
  readonly state: CallState;
  /** The newest of what it wrote; of a settled call the result as the model reads it. Bounded. */
  readonly output: string;
}

/** All texts are plain, but for `said`, which is as the person wrote it. `how`: a prompt opened a turn, an input joined it after tools, a Lead steered it. */
export type ChatItem = { readonly key: string } & (
  | { readonly type: 'header'; readonly lines: readonly string[] }
  | { readonly type: 'said'; readonly how: 'prompt' | 'input' | 'lead'; readonly text: string }
  | { readonly type: 'text'; readonly text: string }
  | { readonly type: 'thought'; readonly text: string }
  | { readonly type: 'call'; readonly call: ShownCall }
  /** What a call that waits for the person would do. */
  | { readonly type: 'asked'; readonly title: string; readonly details: string }
  | { readonly type: 'notice'; readonly level: Level; readonly text: string }
  | { readonly type: 'end'; readonly level: Level; readonly reason: StopReason; readonly text: string }
);

type WithoutKey<Item> = Item extends unknown ? Omit<Item, 'key'> : never;
export type NewItem = WithoutKey<ChatItem>;

/** What the running turn has brought that may still change. */
export interface LiveOutput {
  readonly thought: string;
  readonly text: string;
  readonly calls: readonly ShownCall[];
}

export interface OpenApproval {
  readonly request: ApprovalRequest;
  readonly title: string;
  /** How many more wait behind it. */
  readonly behind: number;
}
