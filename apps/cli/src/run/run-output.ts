/** Where the frames of a run go, in each of its formats. Only what was asked for stands on stdout. */
import type { Terminal } from '../terminal.js';
import type { OutputFrame, ResultFrame } from './frames.js';

export type OutputFormat = 'text' | 'json' | 'stream-json';

export interface RunOutput {
  write(frame: OutputFrame): void;
  /** Once, last. */
  end(result: ResultFrame): void;
}

export function createRunOutput(format: OutputFormat, { out, err }: Terminal): RunOutput {
  const line = (frame: OutputFrame): void => void out.write(`${JSON.stringify(frame)}\n`);
  switch (format) {
    case 'stream-json':
      return { write: line, end: line };
    case 'json':
      return { write: () => undefined, end: line };
    case 'text':
      return {
        write: (frame) => {
          for (const text of describe(frame)) err.write(`${text}\n`);
        },
        end: (result) => {
          const { is_error, structured_result } = result;
          if (!is_error) out.write(`${structured_result === null ? result.result : JSON.stringify(structured_result)}\n`);
        },
      };
  }
}

const SHOWN = 120;

/** A frame in lines for a person who waits. */
function describe(frame: OutputFrame): readonly string[] {
  if (frame.type === 'assistant') {
    const { content } = frame.message;
    return content.flatMap((block) => (block.type === 'tool_use' ? [`→ ${block.name} ${shorten(JSON.stringify(block.input))}`] : []));
  }
  if (frame.type === 'user') {
    const { content } = frame.message;
    return content.flatMap((block) =>
      block.type === 'tool_result' && block.is_error ? [`  ${block.tool_name} ${block.status}: ${shorten(block.content)}`] : [],
    );
  }
  return frame.type === 'system' ? [describeSystem(frame)].filter((text) => text !== '') : [];
}

function describeSystem(frame: Extract<OutputFrame, { type: 'system' }>): string {
  switch (frame.subtype) {
    case 'init':
      return `${frame.model} · session ${frame.session_id} · ${frame.cwd}`;
    case 'retry':
      return `Asking again (${frame.cause})${frame.message === null ? '' : `: ${frame.message}`}`;
    case 'model_fallback':
      return `${frame.from} does not answer: asking ${frame.to}.`;
    case 'compacted':
      return `The conversation was summarized: ${frame.tokens_before} tokens became ${frame.tokens_after}.`;
    case 'hook_message':
      return `Hook ${frame.hook}: ${frame.text}`;
    case 'stop_hook_loop':
      return `The stop hook has blocked ${frame.blocks} times.`;
    case 'hook_failure':
      return `Hook ${frame.event}: ${frame.message}`;
    case 'input_error':
      return `Line ${frame.line} of the input: ${frame.message}`;
    case 'turn_end':
      return '';
  }
}

function shorten(text: string): string {
  const line = text.replace(/\s+/g, ' ');
  return line.length <= SHOWN ? line : `${line.slice(0, SHOWN)}…`;
}
