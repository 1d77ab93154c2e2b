/** What a surface may decide in a tool batch: who may run, under which eyes, and when to end. All of it is optional. */
import type { z } from 'zod';
import type { IdentifiedCall, SettledCall } from './call-result.js';
import type { ToolDefinition } from './tool-port.js';

/** A call that passed validation. */
export interface PlannedCall<Context> {
  readonly call: IdentifiedCall;
  readonly tool: ToolDefinition<z.ZodType, Context>;
  /** Validated; a hook may have rewritten it. */
  readonly input: unknown;
}

export type PermissionVerdict =
  | { readonly decision: 'allow' }
  | { readonly decision: 'deny'; readonly reason: string }
  /** `grant` names what "always allow" would cover; a call that needs interaction is asked whatever was granted. */
  | { readonly decision: 'ask'; readonly grant: string; readonly needsInteraction: boolean };

export type ApprovalAnswer =
  | { readonly decision: 'allow'; readonly always: boolean }
  | { readonly decision: 'deny'; readonly reason: string }
  | { readonly decision: 'superseded' }
  /** Nobody answered yet: the loop parks. */
  | { readonly decision: 'open'; readonly waitsFor: string };

/** Idempotent per call id: a resumed batch asks again, and a decided call gets its decision. */
export interface Permissions<Context> {
  check(planned: PlannedCall<Context>): PermissionVerdict | Promise<PermissionVerdict>;
  ask(planned: PlannedCall<Context>, signal: AbortSignal): Promise<ApprovalAnswer>;
}

export interface BatchHooks<Context> {
  /**
   * Inside decide-all, before every launch: may rewrite the input, which is validated again, or deny the call. Asked again for a call
   * that an earlier run of the turn did not bring to a result and that will run.
   */
  beforeTool?(planned: PlannedCall<Context>): Promise<{ readonly input: unknown } | { readonly deny: string } | null>;
  /** After a call ran: may replace what the model reads. */
  afterTool?(planned: PlannedCall<Context>, result: SettledCall): Promise<{ readonly text: string } | null>;
  /** Once per batch, failed calls included, before the output budget; its text is added to the last result. */
  afterBatch?(results: readonly SettledCall[]): Promise<{ readonly text: string } | null>;
}

export interface BatchPolicies<Context> {
  readonly permissions?: Permissions<Context>;
  readonly hooks?: BatchHooks<Context>;
  /** Calls that shall not run, by id, with what the model is told instead. */
  select?(calls: readonly IdentifiedCall[]): ReadonlyMap<string, string>;
  /** Offered every call once, in request order; `false` leaves it unexecuted. `settled`: it will not run anyhow. */
  beforeToolLaunch?(call: IdentifiedCall, state: { readonly settled: boolean }): boolean | Promise<boolean>;
  /** At batch end, as the model will read them; `end` stops the loop with `surface_ended`. */
  onResults?(results: readonly SettledCall[]): 'end' | 'go_on' | Promise<'end' | 'go_on'>;
}

/** Keeps the full text of a cut result. Idempotent per call id; returns how a model may refer to it. */
export interface ArtifactStore {
  store(artifact: { readonly callId: string; readonly tool: string; readonly text: string }): Promise<string>;
}

/** What is known of a batch that is entered again in its middle (K13, K17). */
export interface KnownCalls {
  /** Results that were stored, the answers of parked calls among them. */
  readonly results: ReadonlyMap<string, { readonly text: string; readonly isError: boolean; readonly endsTurn?: boolean }>;
  /** Calls with an intent and no result. */
  readonly intended: ReadonlySet<string>;
  /** Those among them whose process nobody here can look for: it may still be running (K21). */
  readonly unreachable?: ReadonlySet<string>;
  /** What else is known of an intended call; the model reads it behind the news that its outcome is unknown. */
  readonly notes?: ReadonlyMap<string, string>;
  /** Parked calls whose result is still open, with what they wait for. */
  readonly waiting: ReadonlyMap<string, string>;
}

export const NOTHING_KNOWN: KnownCalls = { results: new Map(), intended: new Set(), waiting: new Map() };

/** The calls of an open batch that earlier runs launched. */
export function countLaunched({ results, intended, waiting }: KnownCalls): number {
  return new Set([...results.keys(), ...intended, ...waiting.keys()]).size;
}
