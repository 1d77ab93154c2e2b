/**
 * What interrupted subagents had done, as text for the agent that started them: their calls are `unknown` and never run again, so this
 * is all that it learns of them (agent-loop.md §7). Bounded; the newest entries stay.
 */
import { listThreadMessages, type ThreadMessage, type Tx } from '@echelon/persistence';
import { type MessagePart, parseParts } from './message-content.js';

const MESSAGES = 100;
const ENTRY_CHARACTERS = 500;
const CHARACTERS = 8_000;

/** Transcripts by the calls that started the subagents; a call whose subagent has said nothing has none. */
export async function readTranscripts(tx: Tx, turnId: string, callIds: readonly string[]): Promise<ReadonlyMap<string, string>> {
  if (callIds.length === 0) return new Map();
  const messages = await listThreadMessages(tx, { turnId, callIds, take: MESSAGES });
  return new Map([...Map.groupBy(messages, ({ call_id }) => call_id)].map(([callId, said]) => [callId, toTranscript(said)]));
}

function toTranscript(messages: readonly ThreadMessage[]): string {
  const entries = messages.flatMap(({ role, depth, content }) =>
    parseParts(content).flatMap((part) => {
      const entry = describe(role, part);
      return entry === null ? [] : [`${'  '.repeat(depth)}- ${shorten(entry)}`];
    }),
  );
  const shown = newest(entries);
  const omitted = messages.length === MESSAGES || shown.length < entries.length ? ' Earlier entries are left out.' : '';
  return [`What the subagent had done until then; what its calls changed stays changed.${omitted}`, ...shown].join('\n');
}

function describe(role: ThreadMessage['role'], part: MessagePart): string | null {
  switch (part.type) {
    case 'text':
      return `${role === 'user' ? 'was told' : 'said'}: ${part.text}`;
    case 'tool_call':
      return `called ${part.name} ${part.arguments}`;
    case 'tool_result':
      return `${part.name} ${part.is_error ? 'failed' : 'answered'}: ${part.text}`;
    case 'thought':
      return null;
  }
}

function shorten(entry: string): string {
  const line = entry.trim().replaceAll('\n', '\n    ');
  return line.length <= ENTRY_CHARACTERS ? line : `${line.slice(0, ENTRY_CHARACTERS).toWellFormed()}…`;
}

/** The last entries that together are short enough. */
function newest(entries: readonly string[]): readonly string[] {
  let characters = 0;
  const from = entries.findLastIndex((entry) => (characters += entry.length) > CHARACTERS);
  return entries.slice(from + 1);
}
