/** Turns the bytes of one output stream into text. */
export interface OutputDecoder {
  /** Text of these bytes; a character that the chunk cuts in two is held back for the next one. */
  write(bytes: Uint8Array): string;
  /** Text of what was held back. */
  end(): string;
}

/**
 * A decoder for one stream of UTF-8 in chunks: invalid bytes and NUL become U+FFFD, so the text is well-formed and may be stored
 * (K19); escape sequences and carriage returns are left as they are.
 */
export function createOutputDecoder(): OutputDecoder {
  const decoder = new TextDecoder('utf-8', { ignoreBOM: true });
  return {
    write: (bytes) => withoutNul(decoder.decode(bytes, { stream: true })),
    end: () => withoutNul(decoder.decode()),
  };
}

function withoutNul(text: string): string {
  return text.replaceAll('\0', '\uFFFD');
}
