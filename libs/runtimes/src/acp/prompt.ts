/** What an agent over ACP is sent: what it is and may do, what was said where it does not know that any more, and the message itself. */
import type { ContentBlock } from '@agentclientprotocol/sdk/unstable';
import type { ModelMessage } from '@echelon/agent-loop';

/** Of an earlier conversation at most so much is repeated, the latest of it. */
const RECALLED_CHARACTERS = 48_000;

export interface AcpPrompt {
  readonly systemPrompt: string;
  /** The session's conversation, the message that opens this turn last. */
  readonly history: readonly ModelMessage[];
  /** The agent has its own record of what was said before. */
  readonly remembers: boolean;
}

export function toPrompt({ systemPrompt, history, remembers }: AcpPrompt): ContentBlock[] {
  const earlier = remembers ? '' : recall(history.slice(0, -1));
  const blocks = [systemPrompt, earlier, ...textsOf(history.at(-1))];
  return blocks.filter((text) => text !== '').map((text) => ({ type: 'text', text }));
}

function recall(history: readonly ModelMessage[]): string {
  const lines = history.flatMap((message) => textsOf(message).map((text) => `${message.role === 'user' ? 'Message' : 'You'}: ${text}`));
  const said = lines.join('\n\n');
  if (said === '') return '';
  const kept = said.length > RECALLED_CHARACTERS ? `…${said.slice(-RECALLED_CHARACTERS)}` : said;
  return `This conversation began earlier, in a session that is not at hand any more. What was said in it:\n\n${kept}`;
}

function textsOf(message: ModelMessage | undefined): readonly string[] {
  if (!message || message.role === 'tool') return [];
  return message.parts.flatMap((part) => (part.type === 'text' ? [part.text] : part.type === 'tool_call' ? [`(called ${part.name})`] : []));
}
