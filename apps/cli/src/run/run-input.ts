/** The input of a run: lines that are frames, in order; what is none is told, and the rest goes on. */
import { createInterface } from 'node:readline';
import type { Readable } from 'node:stream';
import { InputFrame } from './frames.js';

export interface InputSink {
  readonly onFrame: (frame: InputFrame, line: number) => void;
  readonly onError: (line: number, message: string) => void;
  readonly onEnd: () => void;
}

/** Reads until the input ends; the function that it returns ends it now. */
export function readFrames(input: Readable, sink: InputSink): () => void {
  const lines = createInterface({ input, crlfDelay: Infinity });
  let number = 0;
  lines.on('line', (text) => {
    number++;
    if (text.trim() !== '') takeLine(text, number, sink);
  });
  lines.once('close', sink.onEnd);
  input.once('error', () => lines.close());
  return () => {
    lines.close();
    input.destroy();
  };
}

function takeLine(text: string, line: number, { onFrame, onError }: InputSink): void {
  let given: unknown;
  try {
    given = JSON.parse(text);
  } catch (error) {
    return onError(line, `it is no JSON: ${error instanceof Error ? error.message : String(error)}`);
  }
  const parsed = InputFrame.safeParse(given);
  if (parsed.success) return onFrame(parsed.data, line);
  const [issue] = parsed.error.issues;
  onError(line, `it is no frame of the input${issue?.path.length ? `, at ${issue.path.join('.')}` : ''}: ${issue?.message ?? 'unknown'}`);
}
