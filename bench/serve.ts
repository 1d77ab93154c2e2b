/** A measured program's end of the message channel. */
import { inspect } from 'node:util';

export interface Request {
  readonly id: number;
  readonly method: string;
  readonly input: object;
}

export interface Answer {
  readonly id: number;
  readonly value?: unknown;
  readonly error?: string;
}

type Handler = (input: never) => unknown;

/** Answers calls by name until the orchestrator goes away; then closes and exits. */
export function serve(handlers: Readonly<Record<string, Handler>>, close: () => Promise<void> = () => Promise.resolve()): void {
  process.on('message', (request: Request) => void answer(handlers, request));
  process.once('disconnect', () => void close().finally(() => process.exit()));
}

async function answer(handlers: Readonly<Record<string, Handler>>, { id, method, input }: Request): Promise<void> {
  try {
    const handler = handlers[method];
    if (!handler) throw new Error(`no method ${method}`);
    reply({ id, value: await handler(input as never) });
  } catch (error) {
    reply({ id, error: inspect(error) });
  }
}

function reply(answer: Answer): void {
  if (process.connected) process.send?.(answer);
}
