/** Reads a body of server-sent events (WHATWG HTML, §9.2): fields, blank lines, comments. */

export interface ServerSentEvent {
  /** `null` while no event of this stream has carried an id. */
  readonly lastEventId: string | null;
  readonly event: string;
  readonly data: string;
}

/** Yields every block but pure comments; one that only carries an id has no data, and moves the point to resume from. */
export async function* readServerSentEvents(body: ReadableStream<Uint8Array>): AsyncGenerator<ServerSentEvent> {
  let lastEventId: string | null = null;
  let block: string[] = [];
  for await (const line of readLines(body)) {
    if (line !== '') {
      if (!line.startsWith(':')) block.push(line);
      continue;
    }
    if (block.length === 0) continue;
    const fields = block.map(fieldOf);
    lastEventId = fields.findLast(({ name }) => name === 'id')?.value ?? lastEventId;
    yield { lastEventId, event: fields.findLast(({ name }) => name === 'event')?.value ?? 'message', data: dataOf(fields) };
    block = [];
  }
}

interface Field {
  readonly name: string;
  readonly value: string;
}

function dataOf(fields: readonly Field[]): string {
  return fields
    .filter(({ name }) => name === 'data')
    .map(({ value }) => value)
    .join('\n');
}

function fieldOf(line: string): Field {
  const colon = line.indexOf(':');
  if (colon < 0) return { name: line, value: '' };
  return { name: line.slice(0, colon), value: line.slice(colon + 1).replace(/^ /, '') };
}

async function* readLines(body: ReadableStream<Uint8Array>): AsyncGenerator<string> {
  let rest = '';
  for await (const text of body.pipeThrough(new TextDecoderStream())) {
    const lines = (rest + text).split('\n');
    rest = lines.pop() ?? '';
    yield* lines.map((line) => line.replace(/\r$/, ''));
  }
}
