/** What happens around a response, in one sentence each. */
import type { LoopEvent, RetryCause } from '@echelon/agent-loop';
import type { Level } from './chat-item.js';

type Told = Extract<LoopEvent, { type: 'retry' | 'model_fallback' | 'compacted' | 'hook_message' | 'stop_hook_loop' }>;

const CAUSES: Readonly<Record<RetryCause, string>> = {
  request_failed: 'The request failed',
  stream_interrupted: 'The response broke off',
  empty_response: 'The response was empty',
  output_limit: 'The response reached the output limit',
  tool_format: 'The response called its tools in a form that cannot be read',
};

export function describeNotice(event: Told): { readonly level: Level; readonly text: string } {
  switch (event.type) {
    case 'retry':
      return { level: 'warning', text: describeRetry(event) };
    case 'model_fallback':
      return { level: 'warning', text: `${event.from} cannot be reached; ${event.to} answers.` };
    case 'compacted':
      return {
        level: 'info',
        text: `The oldest part of the conversation became a summary (about ${event.tokensBefore} tokens, now ${event.tokensAfter}).`,
      };
    case 'hook_message':
      return { level: 'info', text: `A hook says: ${event.text}` };
    case 'stop_hook_loop':
      return { level: 'warning', text: `A stop hook has blocked the end ${event.blocks} times; it is not asked again.` };
  }
}

function describeRetry({ cause, delayMs, failure }: Extract<Told, { type: 'retry' }>): string {
  const why = failure === null ? '' : ` (${failure.message})`;
  const when = delayMs < 1_000 ? 'again' : `again in ${Math.round(delayMs / 1_000)} s`;
  return `${CAUSES[cause]}${why}; it is sent ${when}.`;
}
