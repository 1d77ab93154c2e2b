/** Keeps the first fifth and the last four fifths of a text of any length, in constant memory. */
export class KeptOutput {
  readonly #headBytes: number;
  readonly #tailBytes: number;
  readonly #head: Buffer[] = [];
  #headLength = 0;
  #tail: Buffer | null = null;
  #tailLength = 0;

  constructor(limitBytes: number) {
    this.#headBytes = Math.floor(limitBytes / 5);
    this.#tailBytes = limitBytes - this.#headBytes;
  }

  /** Bytes of UTF-8 added so far. */
  get totalBytes(): number {
    return this.#headLength + this.#tailLength;
  }

  /** Bytes that `text` leaves out. */
  get omittedBytes(): number {
    return Math.max(0, this.#tailLength - this.#tailBytes);
  }

  add(text: string): void {
    const bytes = Buffer.from(text);
    const forHead = this.#tail === null ? cutBefore(bytes, this.#headBytes - this.#headLength) : 0;
    if (forHead > 0) this.#head.push(bytes.subarray(0, forHead));
    this.#headLength += forHead;
    if (forHead < bytes.length) this.#addToTail(bytes.subarray(forHead));
  }

  /** What is kept, with a line that says how much is missing in the middle. */
  text(): string {
    const head = Buffer.concat(this.#head).toString();
    const tail = this.#tailText();
    return this.omittedBytes === 0 ? head + tail : `${head}\n[… ${this.omittedBytes} bytes left out …]\n${tail}`;
  }

  #addToTail(bytes: Buffer): void {
    this.#tail ??= Buffer.allocUnsafe(this.#tailBytes);
    const last = bytes.subarray(-this.#tailBytes);
    const start = (this.#tailLength + bytes.length - last.length) % this.#tailBytes;
    const untilEnd = last.copy(this.#tail, start);
    last.copy(this.#tail, 0, untilEnd);
    this.#tailLength += bytes.length;
  }

  #tailText(): string {
    if (this.#tail === null) return '';
    if (this.omittedBytes === 0) return this.#tail.subarray(0, this.#tailLength).toString();
    const start = this.#tailLength % this.#tailBytes;
    const bytes = Buffer.concat([this.#tail.subarray(start), this.#tail.subarray(0, start)]);
    return bytes.subarray(bytes.findIndex(startsCharacter)).toString();
  }
}

/** The largest length up to `limit` that cuts no character. */
function cutBefore(bytes: Buffer, limit: number): number {
  if (bytes.length <= limit) return bytes.length;
  let cut = Math.max(0, limit);
  while (cut > 0 && !startsCharacter(bytes[cut] ?? 0)) cut -= 1;
  return cut;
}

function startsCharacter(byte: number): boolean {
  return (byte & 0xc0) !== 0x80;
}
