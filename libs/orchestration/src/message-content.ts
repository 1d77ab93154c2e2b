/** The stored form of a message: our versioned parts as JSON text, written once and never rewritten (K19). */
import { MESSAGE_PARTS_VERSION, type ModelMessage } from '@echelon/agent-loop';
import { canonicalText } from '@echelon/domain';

export type MessagePart = ModelMessage['parts'][number];

/** Serialises parts; the text of each is canonical already or becomes so here. */
export function serializeParts(parts: readonly MessagePart[]): string {
  return JSON.stringify({ version: MESSAGE_PARTS_VERSION, parts }, (_key, value: unknown) =>
    typeof value === 'string' ? canonicalText(value) : value,
  );
}

/** Parts of a stored message; throws for a version that this build does not know. */
export function parseParts(content: string): readonly MessagePart[] {
  const stored = JSON.parse(content) as { readonly version: number; readonly parts: readonly MessagePart[] };
  if (stored.version > MESSAGE_PARTS_VERSION) throw new Error(`message parts of version ${stored.version} are newer than this build`);
  return stored.parts;
}

/** A message of one text, as prompts and notices are. */
export function serializeText(text: string): string {
  return serializeParts([{ type: 'text', text }]);
}
