/** A chat without its screen, over a scripted model, in folders of its own. */
import path from 'node:path';
import { existsSync, writeFileSync } from 'node:fs';
import type { LoopLimits } from '@echelon/agent-loop';
import type { AgentSession, SessionSettings } from '@echelon/agent-session';
import type { AgentScript } from '@echelon/scripted-model';
import { LocalSessions } from './local-sessions.js';
import { Chat } from '../../apps/cli/src/chat/chat.js';
import { ChatInput, type PressedKey } from '../../apps/cli/src/chat/chat-input.js';
import type { ChatItem } from '../../apps/cli/src/chat/chat-item.js';

type ItemOf<Type extends ChatItem['type']> = Extract<ChatItem, { type: Type }>;

export interface StageOptions {
  readonly settings?: Partial<SessionSettings>;
  readonly limits?: LoopLimits;
}

export class ChatStage {
  readonly chat: Chat;
  readonly input: ChatInput;

  private constructor(
    readonly sessions: LocalSessions,
    session: AgentSession,
    { settings, limits = {} }: StageOptions,
  ) {
    this.chat = new Chat({
      session,
      createSession: () => sessions.create(settings),
      forget: (id) => sessions.store.delete(id),
      modelName: 'SCRIPTED',
      limits,
    });
    this.input = new ChatInput(this.chat);
  }

  static async open(script: AgentScript, options: StageOptions = {}): Promise<ChatStage> {
    const sessions = await LocalSessions.open(script);
    return new ChatStage(sessions, sessions.create(options.settings), options);
  }

  items<Type extends ChatItem['type']>(type: Type): readonly ItemOf<Type>[] {
    return this.chat.transcript.items.filter((item): item is ItemOf<Type> => item.type === type);
  }

  /** What has been shown below the header, in order. */
  get story(): readonly string[] {
    return this.chat.transcript.items.flatMap((item) => (item.type === 'header' ? [] : [tell(item)]));
  }

  type(text: string): void {
    for (const character of text) this.input.press(character, {});
  }

  press(key: keyof PressedKey): void {
    this.input.press('', { [key]: true });
  }

  control(letter: string): void {
    this.input.press(letter, { ctrl: true });
  }

  send(text: string): void {
    this.type(text);
    this.press('return');
  }

  /** Resolves once the chat looks so. */
  async until(holds: () => boolean): Promise<void> {
    const seen = Promise.withResolvers<void>();
    const look = (): void => {
      if (holds()) seen.resolve();
    };
    const unsubscribe = this.chat.changes.subscribe(look);
    look();
    await seen.promise;
    unsubscribe();
  }

  rest(): Promise<void> {
    return this.until(() => !this.chat.isRunning);
  }

  /** Lets a command go on that waits for this file. */
  put(file: string): void {
    writeFileSync(path.join(this.sessions.folder, file), '');
  }

  has(file: string): boolean {
    return existsSync(path.join(this.sessions.folder, file));
  }

  async close(): Promise<void> {
    await this.chat.leave();
    await this.sessions.close();
  }
}

function tell(item: Exclude<ChatItem, { type: 'header' }>): string {
  switch (item.type) {
    case 'said':
      return `${item.how}: ${item.text}`;
    case 'text':
    case 'thought':
    case 'notice':
      return `${item.type}: ${item.text}`;
    case 'call':
      return `${item.call.title}: ${item.call.state}`;
    case 'asked':
      return `asked: ${item.title}`;
    case 'end':
      return `end: ${item.reason}`;
  }
}
