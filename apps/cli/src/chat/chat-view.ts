/** The screen of a chat: what is finished scrolls up once and for all, what still changes stands below it, within a few lines. */
import { Box, Static, Text, useInput, usePaste, useWindowSize } from 'ink';
import { createElement as h, type ReactNode, useSyncExternalStore } from 'react';
import { type Chat, toText } from './chat.js';
import type { ChatInput } from './chat-input.js';
import type { ChatItem, LiveOutput } from './chat-item.js';
import { viewCallLine, viewItem } from './item-view.js';
import { tailOf, toLine, toPlain } from './plain-text.js';

export interface ChatViewProps {
  readonly chat: Chat;
  readonly input: ChatInput;
}

/** What is redrawn must never fill the screen: a terminal cannot redraw what has scrolled away. */
const CALLS_SHOWN = 3;
const PENDING_SHOWN = 3;
const DRAFT_LINES = 6;
const MOST_LIVE_LINES = 12;
const ROWS_FOR_THE_REST = 17;
const GRANT_CHARACTERS = 60;
/** More than the lines of a wide screen hold. */
const LIVE_CHARACTERS = 8_000;

export function ChatView({ chat, input }: ChatViewProps): ReactNode {
  useSyncExternalStore(chat.changes.subscribe, chat.changes.version);
  useInput((text, key) => input.press(text, key));
  usePaste((text) => input.paste(text));
  const { columns, rows } = useWindowSize();
  const { items, live } = chat.transcript;
  return h(
    Box,
    { flexDirection: 'column' },
    h(Static<ChatItem>, { items: items as ChatItem[], children: (item: ChatItem) => viewItem(item, columns) }),
    chat.isLeft ? null : viewLive(live, columns, Math.max(3, Math.min(MOST_LIVE_LINES, rows - ROWS_FOR_THE_REST))),
    chat.isLeft ? null : viewPending(chat),
    chat.isLeft ? null : h(Box, { marginTop: 1, flexDirection: 'column' }, viewQuestion(chat, input), viewDraft(chat, input, columns)),
    chat.isLeft ? null : h(Text, { dimColor: true, wrap: 'truncate-end' }, statusOf(chat)),
  );
}

/** The newest lines, however wide their characters are. */
function viewLive({ thought, text, calls }: LiveOutput, columns: number, lines: number): ReactNode {
  const tail = tailOf(toPlain(text.slice(-LIVE_CHARACTERS)).trimEnd(), lines, columns);
  const shown = calls.slice(0, CALLS_SHOWN);
  const content = h(
    Box,
    { flexDirection: 'column', flexShrink: 0 },
    thought === '' ? null : h(Text, { dimColor: true, wrap: 'truncate-start' }, `~ ${toLine(thought)}`),
    tail.text === '' ? null : h(Text, null, tail.isCut ? `…\n${tail.text}` : tail.text),
    ...shown.map((call) => h(Box, { key: call.callId }, viewCallLine(call, columns))),
    calls.length > shown.length ? h(Text, { dimColor: true }, `… ${calls.length - shown.length} more calls`) : null,
  );
  return h(Box, { flexDirection: 'column', justifyContent: 'flex-end', maxHeight: lines, overflow: 'hidden' }, content);
}

function viewPending({ pending }: Chat): ReactNode {
  const lines = pending.slice(-PENDING_SHOWN).map((input) => `${input.kind === 'lead' ? '»' : '>'} ${toLine(toText(input))} (waits)`);
  const before = pending.length - lines.length;
  return h(
    Box,
    { flexDirection: 'column' },
    before > 0 ? h(Text, { dimColor: true }, `… ${before} more wait`) : null,
    ...lines.map((line, at) => h(Text, { key: at, dimColor: true, wrap: 'truncate-end' }, line)),
  );
}

function viewQuestion({ approval }: Chat, input: ChatInput): ReactNode {
  if (approval === null) return null;
  const { title, request, behind } = approval;
  const grant = toLine(request.grant);
  const covered = grant.length > GRANT_CHARACTERS ? `${grant.slice(0, GRANT_CHARACTERS)}…` : grant;
  const keys = input.isDenying
    ? 'Why not? Enter denies it, with or without a reason; Esc goes back.'
    : `y allows it once · a always allows ${covered} · n denies it`;
  return h(
    Box,
    { flexDirection: 'column' },
    h(Text, { color: 'yellow', wrap: 'truncate-end' }, `? ${title}${behind > 0 ? ` (${behind} more wait)` : ''}`),
    h(Text, null, !input.isDenying && input.draft.text !== '' ? `Send or clear what is written, then: ${keys}` : keys),
  );
}

/** The line with its cursor; of a long one the lines around it. */
function viewDraft(chat: Chat, input: ChatInput, columns: number): ReactNode {
  const { text, at } = input.draft;
  const before = tailOf(toPlain(text.slice(0, at)), DRAFT_LINES, columns - 2).text;
  const [under = ' ', ...after] = toPlain(text.slice(at)).split('\n').slice(0, DRAFT_LINES).join('\n');
  const rest = after.join('');
  const cursor = under === '\n' ? [' ', `\n${rest}`] : [under, rest];
  const ghost = text === '' && !input.isDenying ? chat.suggestion : null;
  const sign = input.isDenying ? 'no, because' : chat.isRunning ? '+' : '>';
  return h(
    Text,
    null,
    `${sign} ${before}`,
    h(Text, { inverse: true }, cursor[0]),
    cursor[1],
    ghost === null ? null : h(Text, { dimColor: true }, `${toLine(ghost)} (Tab)`),
  );
}

function statusOf(chat: Chat): string {
  const doing = chat.isStopping ? 'stopping …' : chat.isRunning ? 'working · Esc stops' : 'ready';
  const { contextTokens } = chat.transcript;
  const tokens = contextTokens === 0 ? '' : `${contextTokens} tokens`;
  return [doing, chat.step ?? '', chat.mode, tokens, chat.modelName].filter((part) => part !== '').join(' · ');
}
