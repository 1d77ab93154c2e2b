/** A streamed chat completion at its cheapest: fetch, and the few lines that decode server-sent events. */

interface Delta {
  readonly choices?: readonly {
    readonly delta: {
      readonly content?: string | null;
      readonly tool_calls?: readonly { readonly index: number; readonly id?: string; readonly function?: Fragment }[];
    };
  }[];
}

interface Fragment {
  readonly name?: string;
  readonly arguments?: string;
}

export interface WireCall {
  readonly id: string;
  readonly type: 'function';
  readonly function: { name: string; arguments: string };
}

export interface Completion {
  readonly text: string;
  readonly calls: readonly WireCall[];
}

/** Sends one request and reads its stream to the end. */
export async function complete(url: string, request: object): Promise<Completion> {
  const response = await fetch(`${url}/chat/completions`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ ...request, stream: true }),
  });
  if (!response.ok || !response.body) throw new Error(`the model answered ${response.status}`);
  let text = '';
  const calls: WireCall[] = [];
  for await (const data of readEvents(response.body)) {
    const delta = (JSON.parse(data) as Delta).choices?.[0]?.delta;
    text += delta?.content ?? '';
    for (const { index, id = '', function: fragment } of delta?.tool_calls ?? []) {
      const call = (calls[index] ??= { id, type: 'function', function: { name: '', arguments: '' } });
      call.function.name += fragment?.name ?? '';
      call.function.arguments += fragment?.arguments ?? '';
    }
  }
  return { text, calls };
}

async function* readEvents(body: ReadableStream<Uint8Array>): AsyncGenerator<string> {
  const decoder = new TextDecoder();
  let buffered = '';
  for await (const bytes of body) {
    buffered += decoder.decode(bytes, { stream: true });
    const lines = buffered.split('\n');
    buffered = lines.pop() ?? '';
    for (const line of lines) if (line.startsWith('data: ') && line !== 'data: [DONE]') yield line.slice('data: '.length);
  }
}
