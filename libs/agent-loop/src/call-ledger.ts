/**
 * The calls that were handled already, and the ids that are taken. A call's identity is the provider's id plus what it asks for.
 *
 * C1  Same id, other arguments: a new call under a fresh id; it runs.
 * C2  Same call twice in one response: the second is a `repeat`.
 * C3  A call of an earlier response: a `replay` once, then `replay_again`.
 * C4  A ledger seeded from history decides exactly as the one that lived through it.
 */
import { CallContent } from './call-identity.js';
import type { CallStanding } from './call-result.js';
import type { ModelMessage, ToolCall } from './model-port.js';

interface Handled {
  readonly content: CallContent;
  readonly firstPass: number;
  lastPass: number;
  replays: number;
}

export interface IdScheme {
  /** Names the turn in generated ids. */
  readonly prefix: string;
  readonly round: number;
  /** Ids of this provider repeat across responses and are replaced. */
  readonly replaceIds: boolean;
}

/** Generated and suffixed ids use letters, digits, `-` and `_` only: the strictest provider accepts no more. */
const SUFFIXED = /^(.+)-r\d+$/;

export class CallLedger {
  private readonly handled = new Map<string, Handled[]>();
  private readonly taken = new Set<string>();
  private pass = 0;

  /** A ledger that knows every call of `history`. */
  static of(history: readonly ModelMessage[]): CallLedger {
    const ledger = new CallLedger();
    for (const message of history) if (message.role === 'assistant') ledger.recognise(message);
    return ledger;
  }

  /** Gives the calls of a new response unique ids and tells how each stands to what was handled before. */
  identify(calls: readonly ToolCall[], scheme: IdScheme): (ToolCall & { readonly standing: CallStanding })[] {
    this.pass++;
    return calls.map((call, index) => {
      const generate = scheme.replaceIds || call.callId === '';
      const providerId = generate ? `${scheme.prefix}-${scheme.round}-${index}` : call.callId;
      const standing = this.stand(providerId, call);
      const callId = this.freeId(providerId);
      this.taken.add(callId);
      return { ...call, callId, standing };
    });
  }

  /** Registers the calls of a stored response, which keep their ids, and tells how they stand. */
  recognise(message: Extract<ModelMessage, { role: 'assistant' }>): (ToolCall & { readonly standing: CallStanding })[] {
    this.pass++;
    const calls: (ToolCall & { readonly standing: CallStanding })[] = [];
    for (const part of message.parts) {
      if (part.type !== 'tool_call') continue;
      const standing = this.stand(this.providerIdOf(part.call_id), part);
      this.taken.add(part.call_id);
      calls.push({ callId: part.call_id, name: part.name, arguments: part.arguments, standing });
    }
    return calls;
  }

  private stand(providerId: string, call: { readonly name: string; readonly arguments: string }): CallStanding {
    const content = new CallContent(call.name, call.arguments);
    const known = this.handled.get(providerId) ?? [];
    const same = known.find((other) => other.content.equals(content));
    if (same === undefined) {
      this.handled.set(providerId, [...known, { content, firstPass: this.pass, lastPass: this.pass, replays: 0 }]);
      return 'fresh';
    }
    if (same.firstPass === this.pass) return 'repeat';
    const again = same.lastPass === this.pass || same.replays > 0;
    same.lastPass = this.pass;
    same.replays++;
    return again ? 'replay_again' : 'replay';
  }

  private freeId(providerId: string): string {
    if (!this.taken.has(providerId)) return providerId;
    for (let suffix = 2; ; suffix++) {
      const id = `${providerId}-r${suffix}`;
      if (!this.taken.has(id)) return id;
    }
  }

  private providerIdOf(callId: string): string {
    const base = SUFFIXED.exec(callId)?.[1];
    return base !== undefined && this.handled.has(base) ? base : callId;
  }
}
