/**
 * The loop's events as a transcript.
 *
 * T1  An item that was added never changes: a terminal cannot take back what has scrolled away.
 * T2  Text and thought become items once their response is accepted; an abandoned attempt leaves none (agent-loop.md §4).
 * T3  Calls become items in the order of their response, each once, when it and all before it are settled.
 */
import type { LoopEvent, SettledCall, ToolCall } from '@echelon/agent-loop';
import { viewCall } from '../acp/call-view.js';
import type { ChatItem, LiveOutput, NewItem, ShownCall } from './chat-item.js';
import { describeNotice } from './notices.js';
import { toLine, toPlain } from './plain-text.js';

/** Characters of a call's output that are kept for the screen. */
const OUTPUT_CHARACTERS = 4_000;
const NOTHING: LiveOutput = { thought: '', text: '', calls: [] };

export class Transcript {
  private shown: readonly ChatItem[] = [];
  private current: LiveOutput = NOTHING;
  /** The response has ended; what comes next belongs to another one. */
  private sealed = false;
  private tokens = 0;
  /** The calls of this turn. */
  private readonly seen = new Set<string>();

  constructor(private readonly folder: string) {}

  get items(): readonly ChatItem[] {
    return this.shown;
  }

  get live(): LiveOutput {
    return this.current;
  }

  /** Of the last request and its response; 0 where the provider does not say. */
  get contextTokens(): number {
    return this.tokens;
  }

  add(item: NewItem): void {
    this.shown = [...this.shown, { ...item, key: `${this.shown.length}` }];
  }

  /** What the person said, once it is part of the conversation: behind the response that came before it. */
  say(how: 'prompt' | 'input' | 'lead', text: string): void {
    if (this.sealed) this.acceptText();
    this.add({ type: 'said', how, text });
  }

  take(event: LoopEvent): void {
    switch (event.type) {
      case 'content':
        return this.speak({ text: this.unsealed().text + event.text });
      case 'thought':
        return this.speak({ thought: this.unsealed().thought + event.text });
      case 'finished':
        this.sealed = true;
        this.tokens = (event.usage.inputTokens ?? 0) + (event.usage.outputTokens ?? 0);
        return;
      case 'attempt_abandoned':
        this.sealed = false;
        return this.speak({ text: '', thought: '' });
      case 'tool_started':
        return this.start(event.callId, event.name);
      case 'tool_output':
        return this.change(event.callId, ({ output }) => ({ output: (output + event.chunk).slice(-OUTPUT_CHARACTERS) }));
      case 'tool_settled':
        return this.change(event.callId, () => settled(event));
      case 'retry':
      case 'model_fallback':
      case 'compacted':
      case 'hook_message':
      case 'stop_hook_loop':
        return this.add({ type: 'notice', ...describeNotice(event) });
      case 'tool_call':
      case 'tool_call_preparation':
      case 'error':
        return;
    }
  }

  /** The calls of an accepted response. */
  announce(calls: readonly Pick<ToolCall, 'callId' | 'name' | 'arguments'>[]): void {
    this.acceptText();
    const fresh = calls.filter(({ callId }) => !this.seen.has(callId));
    for (const { callId } of fresh) this.seen.add(callId);
    this.speak({ calls: [...this.current.calls, ...fresh.map((call) => showCall(call, this.folder))] });
  }

  /** The results of a batch as the model reads them: those that no event told, too. */
  conclude(results: readonly SettledCall[]): void {
    this.announce(results.map(({ callId, name }) => ({ callId, name, arguments: '{}' })));
    for (const result of results) this.change(result.callId, () => settled(result));
  }

  /** The turn has ended: what is left of it stays as it is. */
  close(): void {
    this.acceptText();
    for (const call of this.current.calls)
      this.add({ type: 'call', call: isOpen(call) ? { ...call, state: call.state === 'waiting' ? 'not_executed' : 'unknown' } : call });
    this.current = NOTHING;
    this.seen.clear();
  }

  private unsealed(): LiveOutput {
    if (this.sealed) this.acceptText();
    return this.current;
  }

  private acceptText(): void {
    const { thought, text } = this.current;
    this.sealed = false;
    if (thought.trim() !== '') this.add({ type: 'thought', text: toPlain(thought).trim() });
    if (text.trim() !== '') this.add({ type: 'text', text: toPlain(text).trim() });
    this.speak({ thought: '', text: '' });
  }

  private start(callId: string, name: string): void {
    this.announce([{ callId, name, arguments: '{}' }]);
    this.change(callId, () => ({ state: 'running' }));
  }

  private change(callId: string, changes: (call: ShownCall) => Partial<ShownCall>): void {
    const calls = this.current.calls.map((call) => (call.callId === callId ? { ...call, ...changes(call) } : call));
    const open = calls.findIndex(isOpen);
    const done = open === -1 ? calls : calls.slice(0, open);
    for (const call of done) this.add({ type: 'call', call });
    this.speak({ calls: calls.slice(done.length) });
  }

  private speak(changes: Partial<LiveOutput>): void {
    this.current = { ...this.current, ...changes };
  }
}

export function showCall({ callId, name, arguments: raw }: Pick<ToolCall, 'callId' | 'name' | 'arguments'>, folder: string): ShownCall {
  return { callId, tool: name, title: toLine(viewCall(name, raw, folder).title), state: 'waiting', output: '' };
}

function settled({ status, text }: Pick<SettledCall, 'status' | 'text'>): Partial<ShownCall> {
  return { state: status, output: toPlain(text).slice(-OUTPUT_CHARACTERS) };
}

function isOpen({ state }: ShownCall): boolean {
  return state === 'waiting' || state === 'running';
}
