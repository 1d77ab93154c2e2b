/** Reads a page of lines from a file of any size in constant memory. */
import type { FileHandle } from 'node:fs/promises';
import { WORKSPACE_LIMITS } from './limits.js';
import { requireText } from './text-file.js';

const CHUNK_BYTES = 64 * 1024;
const NEWLINE = 0x0a;
/** A UTF-16 unit takes at most three bytes of UTF-8. */
const LINE_BYTES = WORKSPACE_LIMITS.lineCharacters * 3;

export interface FileLines {
  /** The lines from `first` on, without line ends, each cut to `lineCharacters`. */
  readonly lines: readonly string[];
  /** Null when the file is too large to count. */
  readonly totalLines: number | null;
  /** The first line after this page; null at the end of the file. */
  readonly next: number | null;
  readonly carriageReturns: boolean;
  /** Bytes that are not UTF-8 were shown as U+FFFD. */
  readonly damaged: boolean;
}

export interface LinePage {
  readonly shown: string;
  /** The first line, counted from 1. */
  readonly offset: number;
  readonly limit: number;
  readonly signal: AbortSignal;
}

/** Reads lines `offset` … `offset + limit - 1`, and stops earlier when a page is full. */
export async function readLines(handle: FileHandle, page: LinePage): Promise<FileLines> {
  const { size } = await handle.stat();
  const collector = new LineCollector(page);
  const chunk = Buffer.allocUnsafe(CHUNK_BYTES);
  for (let position = 0; ;) {
    page.signal.throwIfAborted();
    const { bytesRead } = await handle.read(chunk, 0, CHUNK_BYTES, position);
    const bytes = chunk.subarray(0, bytesRead);
    if (position === 0) requireText(bytes, page.shown, size);
    if (bytesRead === 0) return collector.finish(true);
    collector.add(bytes);
    position += bytesRead;
    if (position >= WORKSPACE_LIMITS.readScanBytes) return collector.finish(false);
    if (collector.full && size > WORKSPACE_LIMITS.readCountBytes) return collector.finish(false);
  }
}

class LineCollector {
  readonly #page: LinePage;
  readonly #lines: string[] = [];
  #line = 1;
  #pending: Buffer[] = [];
  #pendingBytes = 0;
  #lineIsOpen = false;
  #characters = 0;
  #carriageReturns = false;
  #damaged = false;
  full = false;

  constructor(page: LinePage) {
    this.#page = page;
  }

  add(bytes: Buffer): void {
    let start = 0;
    while (start < bytes.length) {
      const newline = bytes.indexOf(NEWLINE, start);
      const end = newline === -1 ? bytes.length : newline;
      this.#keep(bytes.subarray(start, end));
      this.#lineIsOpen = newline === -1;
      if (newline !== -1) this.#endLine();
      start = end + 1;
    }
  }

  finish(atEnd: boolean): FileLines {
    if (this.#lineIsOpen) this.#endLine();
    const afterPage = this.#page.offset + this.#lines.length;
    const more = this.#line > afterPage || !atEnd;
    return {
      lines: this.#lines,
      totalLines: atEnd ? this.#line - 1 : null,
      next: more && this.#lines.length > 0 ? afterPage : null,
      carriageReturns: this.#carriageReturns,
      damaged: this.#damaged,
    };
  }

  #keep(bytes: Buffer): void {
    if (this.full || this.#line < this.#page.offset || this.#pendingBytes > LINE_BYTES) return;
    this.#pending.push(Buffer.from(bytes.subarray(0, LINE_BYTES + 1 - this.#pendingBytes)));
    this.#pendingBytes += bytes.length;
  }

  #endLine(): void {
    if (!this.full && this.#line >= this.#page.offset) this.#take(Buffer.concat(this.#pending));
    this.#pending = [];
    this.#pendingBytes = 0;
    this.#line += 1;
    this.#lineIsOpen = false;
  }

  #take(bytes: Buffer): void {
    const cut = this.#pendingBytes > LINE_BYTES;
    const text = new TextDecoder().decode(bytes, { stream: cut }).replaceAll('\0', '\uFFFD');
    const line = text.endsWith('\r') && !cut ? text.slice(0, -1) : text;
    const shown = shorten(line, cut);
    if (this.#lines.length > 0 && this.#characters + shown.length > WORKSPACE_LIMITS.pageCharacters) {
      this.full = true;
      return;
    }
    this.#lines.push(shown);
    this.#characters += shown.length + LINE_NUMBER_CHARACTERS;
    this.#carriageReturns ||= line !== text;
    this.#damaged ||= text.includes('\uFFFD');
    this.full = this.#lines.length >= this.#page.limit;
  }
}

/** `123456\t` before and a newline after each line. */
const LINE_NUMBER_CHARACTERS = 8;

function shorten(line: string, cut: boolean): string {
  if (!cut && line.length <= WORKSPACE_LIMITS.lineCharacters) return line;
  return `${line.slice(0, WORKSPACE_LIMITS.lineCharacters).toWellFormed()} […line is longer]`;
}
