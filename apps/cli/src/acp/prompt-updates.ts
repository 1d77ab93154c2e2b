/** What an editor sees of one prompt while it runs: the loop's events as session updates. */
import { randomUUID } from 'node:crypto';
import type { LoopEvent, Usage } from '@echelon/agent-loop';
import type { Todo } from '@echelon/agent-session';
import type { PlanEntry, Usage as PromptUsage } from '@agentclientprotocol/sdk/unstable';
import { CallUpdates, type SendUpdate } from './call-updates.js';

export interface PromptUpdatesOptions {
  readonly send: SendUpdate;
  readonly folder: string;
  readonly todos: () => readonly Todo[];
  /** Tokens that the model reads and writes together; unknown where nobody configured it. */
  readonly contextWindow: number | undefined;
  /** The editor shows notices. */
  readonly takesNotices: boolean;
}

type Event<Type extends LoopEvent['type']> = Extract<LoopEvent, { type: Type }>;

const VOID_NOTICE = 'The reply was interrupted and starts anew; what it said so far does not count.';

export class PromptUpdates {
  readonly calls: CallUpdates;
  private messageId = randomUUID();
  /** This attempt has shown something. */
  private hasSpoken = false;
  private spent: PromptUsage | null = null;

  constructor(private readonly options: PromptUpdatesOptions) {
    this.calls = new CallUpdates(options.send, options.folder);
  }

  /** Tokens of all requests of the prompt so far; `null` where the provider does not say. */
  get usage(): PromptUsage | null {
    return this.spent;
  }

  readonly onEvent = (event: LoopEvent): void => {
    switch (event.type) {
      case 'content':
      case 'thought':
        return this.speak(event);
      case 'finished':
        return this.finish(event.usage);
      case 'attempt_abandoned':
        return this.abandon();
      case 'model_fallback':
        return this.notice('Another model answers', `${event.from} cannot be reached; ${event.to} answers.`);
      case 'hook_message':
        return this.notice('A hook says', event.text);
      case 'compacted':
        return this.notice('The conversation was compacted', 'Its oldest part became a summary.');
      case 'tool_started':
        return this.calls.start(event.callId);
      case 'tool_output':
        return this.calls.addOutput(event.callId, event.chunk);
      case 'tool_settled':
        return this.settle(event);
      case 'tool_call':
      case 'tool_call_preparation':
      case 'error':
      case 'retry':
      case 'stop_hook_loop':
        return;
    }
  };

  /** Says something of our own, apart from what the model says. */
  say(text: string): void {
    this.beginMessage();
    this.speak({ type: 'content', text });
    this.beginMessage();
  }

  /** Must be seen, whatever the editor can show. */
  warn(text: string): void {
    if (this.options.takesNotices) void this.options.send({ sessionUpdate: 'notice', severity: 'warning', title: text });
    else this.say(`${text}\n\n`);
  }

  /** Shown live where the editor can. */
  private notice(title: string, description: string): void {
    if (this.options.takesNotices) void this.options.send({ sessionUpdate: 'notice', severity: 'info', title, description });
  }

  private speak({ type, text }: Pick<Event<'content' | 'thought'>, 'type' | 'text'>): void {
    if (text === '') return;
    this.hasSpoken = true;
    const sessionUpdate = type === 'content' ? 'agent_message_chunk' : 'agent_thought_chunk';
    void this.options.send({ sessionUpdate, messageId: `${this.messageId}-${type}`, content: { type: 'text', text } });
  }

  /** What was sent cannot be taken back: the attempt is declared void, and the next one is another message. */
  private abandon(): void {
    if (!this.hasSpoken) return;
    this.beginMessage();
    if (this.options.takesNotices) this.notice('The reply starts anew', VOID_NOTICE);
    else this.speak({ type: 'thought', text: VOID_NOTICE });
    this.beginMessage();
  }

  private finish({ inputTokens, outputTokens, cachedInputTokens, reasoningTokens }: Usage): void {
    this.beginMessage();
    if (inputTokens === null || outputTokens === null) return;
    const before = this.spent;
    this.spent = {
      inputTokens: (before?.inputTokens ?? 0) + inputTokens,
      outputTokens: (before?.outputTokens ?? 0) + outputTokens,
      totalTokens: (before?.totalTokens ?? 0) + inputTokens + outputTokens,
      cachedReadTokens: (before?.cachedReadTokens ?? 0) + (cachedInputTokens ?? 0),
      thoughtTokens: (before?.thoughtTokens ?? 0) + (reasoningTokens ?? 0),
    };
    const { contextWindow: size, send } = this.options;
    if (size !== undefined) void send({ sessionUpdate: 'usage_update', used: inputTokens + outputTokens, size });
  }

  private settle({ callId, status, text, structured }: Event<'tool_settled'>): void {
    this.calls.settle(callId, status, text, structured);
    if (status === 'succeeded' && this.calls.nameOf(callId) === 'update_todos')
      void this.options.send({ sessionUpdate: 'plan', entries: toPlan(this.options.todos()) });
  }

  private beginMessage(): void {
    this.messageId = randomUUID();
    this.hasSpoken = false;
  }
}

/** Our steps have no priorities. */
export function toPlan(todos: readonly Todo[]): PlanEntry[] {
  return todos.map(({ content, status }) => ({ content, status, priority: 'medium' }));
}
