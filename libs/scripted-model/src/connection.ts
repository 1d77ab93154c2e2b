/** One HTTP response under the control of a script: it can be cut at a byte, left silent or broken. */
import type { ServerResponse } from 'node:http';

/** How a response ended: as written, cut by the script, or given up by the other side (or by closing the server). */
export type ConnectionEnd = 'completed' | 'dropped' | 'disconnected';

export class Connection {
  /** Settles when the connection has no more to say. */
  readonly ended: Promise<ConnectionEnd>;
  private bytesLeft: number;
  private dropped = false;

  constructor(
    private readonly response: ServerResponse,
    dropAfterBytes = Infinity,
  ) {
    this.bytesLeft = dropAfterBytes;
    this.ended = new Promise((resolve) => {
      response.once('close', () => resolve(response.writableFinished ? 'completed' : this.dropped ? 'dropped' : 'disconnected'));
    });
  }

  get isOver(): boolean {
    return this.response.destroyed || this.response.writableEnded;
  }

  limitBytes(bytes: number): void {
    this.bytesLeft = bytes;
  }

  open(status: number, headers: Readonly<Record<string, string>>): void {
    if (this.isOver) return;
    this.response.writeHead(status, { ...headers, 'x-scripted-model': 'true' });
    this.response.flushHeaders();
  }

  /** Resolves when the bytes have left this process, so that a drop after it loses nothing of them. */
  async write(text: string): Promise<void> {
    if (this.isOver) return;
    const bytes = Buffer.from(text);
    const part = bytes.subarray(0, this.bytesLeft);
    this.bytesLeft -= part.length;
    if (part.length > 0) await new Promise<void>((resolve) => this.response.write(part, () => resolve()));
    if (part.length < bytes.length) this.drop();
  }

  drop(): void {
    this.dropped = true;
    this.response.destroy();
  }

  end(): void {
    if (!this.isOver) this.response.end();
  }
}
