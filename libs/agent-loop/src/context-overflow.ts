import type { LoopStop } from './stop-reason.js';

/** How providers say that a prompt is longer than the window; none has a status of its own for it. */
const WORDING = /context[ _](?:length|window|size|limit)|(?:prompt|input) is too long|input token count|maximum number of tokens/i;

/** Whether a request failed because its prompt is longer than what the model takes. */
export function isContextOverflow(stop: LoopStop): boolean {
  if (stop.reason !== 'error' || stop.kind !== 'model_request' || stop.failure === undefined) return false;
  const { kind, status, message } = stop.failure;
  return ((kind === 'http' && (status === 400 || status === 413)) || kind === 'protocol') && WORDING.test(message);
}
