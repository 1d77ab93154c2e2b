/** How the finished items of a transcript look. Signs and words carry the meaning; colours only help. */
import { Box, Text } from 'ink';
import { createElement as h, type ReactNode } from 'react';
import type { CallState, ChatItem, Level, ShownCall } from './chat-item.js';
import { tailOf, toPlain } from './plain-text.js';

/** Lines of a call's output on the screen. */
const OUTPUT_LINES = 5;
/** Lines of a thought. */
const THOUGHT_LINES = 2;
const INDENT = 2;

const SIGNS: Readonly<Record<CallState, string>> = {
  waiting: '○',
  running: '◌',
  succeeded: '✓',
  failed: '✗',
  invalid: '✗',
  denied: '✗',
  superseded: '✗',
  duplicate: '✗',
  replay: '✗',
  not_executed: '✗',
  cancelled: '✗',
  unknown: '?',
};
const COLOURS: Readonly<Record<Level, string>> = { info: 'gray', warning: 'yellow', error: 'red' };
const SAID = { prompt: '>', input: '>', lead: '»' } as const;
/** Their output is why they are called. */
const TALKATIVE: ReadonlySet<string> = new Set(['run_command', 'run_subagent']);

export function viewItem(item: ChatItem, columns: number): ReactNode {
  switch (item.type) {
    case 'header':
      return h(Box, { key: item.key, flexDirection: 'column' }, h(Text, { bold: true }, 'Echelon'), dim(item.lines.join('\n')));
    case 'said':
      return h(Box, { key: item.key, marginTop: 1 }, h(Text, { color: 'cyan' }, `${SAID[item.how]} ${toPlain(item.text)}`));
    case 'text':
      return h(Text, { key: item.key }, item.text);
    case 'thought':
      return h(Box, { key: item.key }, dim(`~ ${firstLines(item.text, THOUGHT_LINES, columns)}`));
    case 'call':
      return h(Box, { key: item.key }, viewCallLine(item.call, columns));
    case 'asked':
      return h(Box, { key: item.key, flexDirection: 'column' }, h(Text, { bold: true }, `? ${item.title}`), indent(item.details));
    case 'notice':
      return h(Text, { key: item.key, color: COLOURS[item.level] }, `· ${toPlain(item.text)}`);
    case 'end':
      return h(Text, { key: item.key, color: COLOURS[item.level] }, `■ ${toPlain(item.text)}`);
  }
}

/** One line, and beneath it the last lines of what it wrote. */
export function viewCallLine(call: ShownCall, columns: number): ReactNode {
  const { state, title, tool, output } = call;
  const isOpen = state === 'waiting' || state === 'running';
  const word = state === 'succeeded' ? '' : ` (${state.replace('_', ' ')})`;
  const shows = isOpen || state !== 'succeeded' || TALKATIVE.has(tool);
  const { text, isCut } = tailOf(toPlain(output).trimEnd(), OUTPUT_LINES, columns - INDENT);
  return h(
    Box,
    { flexDirection: 'column' },
    h(Text, { color: state === 'succeeded' ? 'green' : isOpen ? 'yellow' : 'red' }, `${SIGNS[state]} ${title}${word}`),
    shows && text !== '' ? indent(isCut ? `…\n${text}` : text) : null,
  );
}

function indent(text: string): ReactNode {
  return h(Box, { paddingLeft: INDENT }, dim(text));
}

function dim(text: string): ReactNode {
  return h(Text, { dimColor: true }, text);
}

function firstLines(text: string, lines: number, columns: number): string {
  const line = text.replace(/\s+/g, ' ');
  const most = Math.max(lines * (columns - INDENT), 1);
  return line.length > most ? `${line.slice(0, most - 1)}…` : line;
}
