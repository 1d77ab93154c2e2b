import { render } from 'ink';
import { createElement } from 'react';
import type { Chat } from './chat.js';
import { ChatInput } from './chat-input.js';
import { ChatView } from './chat-view.js';

/** Shows a chat on this process's terminal until the person has left it. Rejects when something broke that no turn tells. */
export async function showChat(chat: Chat): Promise<void> {
  const input = new ChatInput(chat);
  const screen = render(createElement(ChatView, { chat, input }), { exitOnCtrlC: false, interactive: true });
  try {
    await chat.left;
  } finally {
    await screen.waitUntilRenderFlush();
    screen.unmount();
    await screen.waitUntilExit();
  }
}
