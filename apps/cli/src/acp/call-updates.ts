/**
 * What an editor sees of the calls of one prompt.
 *
 * U1  A call is announced when its response is accepted, so a call of an abandoned attempt is never seen.
 * U2  Per call: pending, in progress, live output, completed or failed, in this order and nothing after the end but a changed text.
 * U3  Live output is the newest text, replaced as a whole, and sent only as fast as the editor takes it.
 */
import type { CallStatus, SettledCall, ToolCall } from '@echelon/agent-loop';
import type { SessionUpdate, ToolCallContent, ToolCallStatus } from '@agentclientprotocol/sdk/unstable';
import { textContent, viewCall, viewChange } from './call-view.js';

/** Resolves when the editor's stream has taken the update. */
export type SendUpdate = (update: SessionUpdate) => Promise<void>;

/** What an editor is shown of a running command at most. */
const OUTPUT_CHARACTERS = 8_000;

interface ShownCall {
  readonly name: string;
  readonly change: ToolCallContent[];
  output: string;
  sending: boolean;
  outdated: boolean;
  /** Of a settled call. */
  text: string | null;
}

const STATUS: Readonly<Record<CallStatus, ToolCallStatus>> = {
  succeeded: 'completed',
  failed: 'failed',
  invalid: 'failed',
  denied: 'failed',
  superseded: 'failed',
  duplicate: 'failed',
  replay: 'failed',
  not_executed: 'failed',
  cancelled: 'failed',
  unknown: 'failed',
};

export class CallUpdates {
  private readonly shown = new Map<string, ShownCall>();

  constructor(
    private readonly send: SendUpdate,
    private readonly folder: string,
  ) {}

  has(callId: string): boolean {
    return this.shown.has(callId);
  }

  nameOf(callId: string): string | null {
    return this.shown.get(callId)?.name ?? null;
  }

  announce(calls: readonly ToolCall[]): void {
    for (const { callId, name, arguments: raw } of calls) {
      if (this.shown.has(callId)) continue;
      const view = viewCall(name, raw, this.folder);
      const change = viewChange(view);
      this.shown.set(callId, { name, change, output: '', sending: false, outdated: false, text: null });
      void this.send({ sessionUpdate: 'tool_call', toolCallId: callId, status: 'pending', ...view, content: change });
    }
  }

  start(callId: string): void {
    if (this.shown.has(callId)) void this.send({ sessionUpdate: 'tool_call_update', toolCallId: callId, status: 'in_progress' });
  }

  addOutput(callId: string, chunk: string): void {
    const call = this.shown.get(callId);
    if (call === undefined || call.text !== null) return;
    call.output = (call.output + chunk).slice(-OUTPUT_CHARACTERS);
    call.outdated = true;
    if (!call.sending) void this.sendOutput(callId, call);
  }

  settle(callId: string, status: CallStatus, text: string, structured?: SettledCall['structured']): void {
    const call = this.shown.get(callId);
    if (call === undefined) return;
    call.text = text;
    void this.send({
      sessionUpdate: 'tool_call_update',
      toolCallId: callId,
      status: STATUS[status],
      content: contentOf(call, status, text),
      rawOutput: structured ?? { text },
    });
  }

  /** The results as the model reads them: shows calls that were answered without a look, and texts that the batch changed. */
  conclude(results: readonly SettledCall[]): void {
    for (const { callId, name, status, text } of results) {
      const call = this.shown.get(callId);
      if (call?.text === text) continue;
      if (call === undefined) {
        this.announce([{ callId, name, arguments: '{}' }]);
        this.settle(callId, status, text);
      } else {
        call.text = text;
        void this.send({ sessionUpdate: 'tool_call_update', toolCallId: callId, content: contentOf(call, status, text) });
      }
    }
  }

  private async sendOutput(callId: string, call: ShownCall): Promise<void> {
    call.sending = true;
    while (call.outdated && call.text === null) {
      call.outdated = false;
      await this.send({ sessionUpdate: 'tool_call_update', toolCallId: callId, content: [textContent(call.output)] });
    }
    call.sending = false;
  }
}

/** A change that was made is shown as one; everything else as its text. */
function contentOf({ change }: ShownCall, status: CallStatus, text: string): ToolCallContent[] {
  return status === 'succeeded' && change.length > 0 ? change : [textContent(text)];
}
