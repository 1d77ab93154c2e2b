import type { Hook } from '@echelon/contracts';
import { ANSWER_BYTES, type HookReply, type HookRequest } from './hook-reply.js';

/** Posts the input. Redirects are not followed: the input may hold what only this address shall see. */
export async function askUrl(hook: Hook & { readonly url: string }, { input, timeoutMs, signal }: HookRequest): Promise<HookReply> {
  const limit = AbortSignal.timeout(timeoutMs);
  try {
    const response = await fetch(hook.url, {
      method: 'POST',
      redirect: 'manual',
      headers: { ...fillIn(hook), 'content-type': 'application/json', accept: 'application/json' },
      body: input,
      signal: AbortSignal.any([signal, limit]),
    });
    const text = await readText(response);
    if (!response.ok) return { failure: `it answered with status ${response.status}` };
    return text === null ? { failure: `it answered with more than ${ANSWER_BYTES} bytes` } : { text };
  } catch (error) {
    if (limit.aborted) return { failure: `it did not answer within ${timeoutMs / 1_000} s` };
    return { failure: `it could not be reached: ${describe(error)}` };
  }
}

/** Puts variables of this process into header values, those that the hook names and no others. */
function fillIn({ headers = {}, env = [] }: Hook): Record<string, string> {
  const fill = (value: string): string =>
    value.replaceAll(/\$\{(\w+)\}/g, (whole, name: string) => (env.includes(name) ? (process.env[name] ?? '') : whole));
  return Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, fill(value)]));
}

/** `null`: it is longer than an answer may be. */
async function readText(response: Response): Promise<string | null> {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of (response.body ?? []) as AsyncIterable<Uint8Array>) {
    bytes += chunk.length;
    if (bytes > ANSWER_BYTES) return null;
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString();
}

/** `fetch` tells in the cause what happened; some causes have a code and no message. */
function describe(error: unknown): string {
  const { message, code } = ((error as Error).cause ?? error) as NodeJS.ErrnoException;
  return message || code || 'for an unknown reason';
}
