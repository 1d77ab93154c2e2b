/** What asking a hook takes and gives, however it is asked. */

/** Bytes that a hook may answer with. */
export const ANSWER_BYTES = 64 * 1_024;

export interface HookRequest {
  /** JSON. */
  readonly input: string;
  /** Where a command runs, absolute. */
  readonly folder: string;
  readonly timeoutMs: number;
  readonly signal: AbortSignal;
}

export type HookReply =
  /** What it printed or responded with, unread. */
  | { readonly text: string }
  | { readonly block: string }
  /** What is wrong with it, to go on after its name. */
  | { readonly failure: string };
