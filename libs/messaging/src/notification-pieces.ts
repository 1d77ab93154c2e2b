/** Postgres refuses a NOTIFY payload of 8,000 bytes or more. */
const PIECE_CHARACTERS = 7_900;
const PIECE = /^(\d+)\/(\d+):/;

/**
 * Cuts a JSON text into payloads for one transaction, whose notifications arrive together and in order. Each carries its number, because
 * Postgres drops equal payloads of a transaction. All but ASCII is escaped, as JSON allows: one character is one byte.
 */
export function cutIntoPieces(json: string): readonly string[] {
  const ascii = json.replace(/[\u0080-\uffff]/g, (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`);
  const count = Math.ceil(ascii.length / PIECE_CHARACTERS);
  return Array.from({ length: count }, (_, index) => {
    const start = index * PIECE_CHARACTERS;
    return `${String(index + 1)}/${String(count)}:${ascii.slice(start, start + PIECE_CHARACTERS)}`;
  });
}

/** Puts the pieces of each sender together again. */
export class PieceCollector {
  readonly #texts = new Map<number, string>();

  /** The whole text when this was its last piece, else undefined. */
  add(sender: number, payload: string): string | undefined {
    const [head = '', number, count] = PIECE.exec(payload) ?? [];
    const text = (number === '1' ? '' : (this.#texts.get(sender) ?? '')) + payload.slice(head.length);
    if (number !== count) {
      this.#texts.set(sender, text);
      return undefined;
    }
    this.#texts.delete(sender);
    return text;
  }
}
