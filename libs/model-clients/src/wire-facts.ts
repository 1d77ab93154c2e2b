/**
 * What a provider said literally, where the AI SDK gives only its own reading: the finish reason and the call ids.
 *
 * W1  The first finish reason counts; a later one does not replace it.
 * W2  A call id is the provider's, also if it is empty or repeated: the loop decides what to do with it.
 */

export interface WireFacts {
  /** Takes the next event of the stream, before the parts that the SDK makes of it. */
  read(event: unknown): void;
  /** `null` until the provider has said one. */
  readonly finishReason: string | null;
  /** The provider's id of the call that the SDK calls `sdkId`. */
  findCallId(sdkId: string): string;
}

export class ChatCompletionsFacts implements WireFacts {
  private reason: string | null = null;
  private refused = false;
  private readonly ids = new Set<string>();
  private readonly idByIndex = new Map<number, string>();
  private readonly replaced = new Map<string, string>();
  /** Wire ids of the calls that the last event opened and whose id the SDK cannot use. */
  private openings: string[] = [];

  get finishReason(): string | null {
    return this.refused && this.reason === 'stop' ? 'refusal' : this.reason;
  }

  read(event: unknown): void {
    const choice = toRecord(toList(toRecord(event)?.choices)[0]);
    const delta = toRecord(choice?.delta);
    this.openings = [];
    this.refused ||= isFilled(delta?.refusal);
    for (const call of toList(delta?.tool_calls)) this.readCall(toRecord(call));
    this.reason ??= toText(choice?.finish_reason);
  }

  /** The SDK makes up an id for a call whose id is empty or taken; the call is then the next one that was opened so. */
  findCallId(sdkId: string): string {
    if (this.ids.has(sdkId)) return sdkId;
    const known = this.replaced.get(sdkId);
    if (known !== undefined) return known;
    const wireId = this.openings.shift() ?? '';
    this.replaced.set(sdkId, wireId);
    return wireId;
  }

  private readCall(call: Readonly<Record<string, unknown>> | null): void {
    const index = typeof call?.index === 'number' ? call.index : -1;
    const id = toText(call?.id) ?? (call?.index === undefined ? '' : (this.idByIndex.get(index) ?? ''));
    this.idByIndex.set(index, id);
    const opens = isFilled(toRecord(call?.function)?.name);
    if (opens && (id.trim() === '' || this.ids.has(id))) this.openings.push(id);
    if (id.trim() !== '') this.ids.add(id);
  }
}

export class AnthropicMessagesFacts implements WireFacts {
  finishReason: string | null = null;

  read(event: unknown): void {
    const record = toRecord(event);
    if (record?.type === 'message_delta') this.finishReason ??= toText(toRecord(record.delta)?.stop_reason);
  }

  findCallId(sdkId: string): string {
    return sdkId;
  }
}

/** A complete response has no reason of its own: the type of its last event is the word. */
export class OpenAIResponsesFacts implements WireFacts {
  private reason: string | null = null;
  private refused = false;

  get finishReason(): string | null {
    return this.refused && this.reason === 'completed' ? 'refusal' : this.reason;
  }

  read(event: unknown): void {
    const record = toRecord(event);
    if (record?.type === 'response.refusal.delta') this.refused = true;
    if (record?.type === 'response.completed') this.reason ??= 'completed';
    if (record?.type !== 'response.incomplete') return;
    const details = toRecord(toRecord(record.response)?.incomplete_details);
    this.reason ??= toText(details?.reason) ?? 'incomplete';
  }

  findCallId(sdkId: string): string {
    return sdkId;
  }
}

function toRecord(value: unknown): Readonly<Record<string, unknown>> | null {
  return typeof value === 'object' && value !== null ? (value as Readonly<Record<string, unknown>>) : null;
}

function toList(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

function toText(value: unknown): string | null {
  return typeof value === 'string' ? value : null;
}

function isFilled(value: unknown): boolean {
  return typeof value === 'string' && value !== '';
}
