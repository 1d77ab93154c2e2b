/** How a call looks in an editor: what kind of thing it does, in words, and where. */
import { readFileSync, statSync } from 'node:fs';
import path from 'node:path';
import type { ToolCallContent, ToolCallLocation, ToolKind } from '@agentclientprotocol/sdk/unstable';

export interface CallView {
  readonly name: string;
  readonly title: string;
  readonly kind: ToolKind;
  readonly locations: ToolCallLocation[];
  readonly rawInput: unknown;
}

type Input = Readonly<Record<string, unknown>>;
interface Look {
  readonly kind: ToolKind;
  /** Before what `subject` says; a call without it has the name of its tool. */
  readonly verb: string;
  readonly subject: (input: Input) => unknown;
}

const TITLE_CHARACTERS = 120;
/** A file whose old text is longer is shown without it. */
const OLD_TEXT_BYTES = 262_144;

const LOOKS: Readonly<Record<string, Look>> = {
  read_file: { kind: 'read', verb: 'Read', subject: ({ path: file }) => file },
  list_files: { kind: 'read', verb: 'List', subject: ({ path: folder = '.' }) => folder },
  search_files: { kind: 'search', verb: 'Search for', subject: ({ pattern }) => pattern },
  write_file: { kind: 'edit', verb: 'Write', subject: ({ path: file }) => file },
  edit_file: { kind: 'edit', verb: 'Edit', subject: ({ path: file }) => file },
  run_command: { kind: 'execute', verb: 'Run', subject: ({ command }) => command },
  run_subagent: { kind: 'other', verb: 'Subagent:', subject: ({ description }) => description },
  update_todos: { kind: 'think', verb: 'Update', subject: () => 'the list of steps' },
};

/** `input` is what the model asked for, parsed or still JSON text; `folder` the absolute folder of the session. */
export function viewCall(name: string, input: unknown, folder: string): CallView {
  const rawInput = typeof input === 'string' ? parse(input) : input;
  const fields = toFields(rawInput);
  const look = LOOKS[name];
  const { path: place, offset } = fields;
  const line = name === 'read_file' && typeof offset === 'number' ? { line: offset } : {};
  return {
    name,
    title: look === undefined ? name : titleOf(look, fields, name),
    kind: look?.kind ?? 'other',
    locations: typeof place === 'string' ? [{ path: path.resolve(folder, place), ...line }] : [],
    rawInput,
  };
}

/** What a call is about to change: one diff, or nothing. */
export function viewChange({ name, locations, rawInput }: CallView): ToolCallContent[] {
  const [place] = locations;
  const { old_string: oldString, new_string: newString, content } = toFields(rawInput);
  if (place === undefined) return [];
  if (name === 'edit_file' && typeof oldString === 'string' && typeof newString === 'string')
    return [{ type: 'diff', path: place.path, oldText: oldString, newText: newString }];
  if (name !== 'write_file' || typeof content !== 'string') return [];
  return [{ type: 'diff', path: place.path, oldText: readOldText(place.path), newText: content }];
}

export function textContent(text: string): ToolCallContent {
  return { type: 'content', content: { type: 'text', text } };
}

function readOldText(file: string): string | null {
  const found = statSync(file, { throwIfNoEntry: false });
  return found?.isFile() && found.size <= OLD_TEXT_BYTES ? readFileSync(file, 'utf8') : null;
}

function toFields(input: unknown): Input {
  return typeof input === 'object' && input !== null ? (input as Input) : {};
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

function titleOf({ verb, subject }: Look, fields: Input, name: string): string {
  const given = subject(fields);
  if (typeof given !== 'string' || given.trim() === '') return name;
  const text = `${verb} ${given.trim().replace(/\s+/g, ' ')}`;
  return text.length > TITLE_CHARACTERS ? `${text.slice(0, TITLE_CHARACTERS - 1)}…` : text;
}
