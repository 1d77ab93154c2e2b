/**
 * Our messages in the form that the AI SDK takes.
 *
 * P1  A message is converted once per dialect: messages never change, so the cost of a round does not grow with the
 *     history (benchmarks.md B1, lesson 2).
 * P2  Text and arguments go back as they came; provider data goes back unchanged.
 */
import type { LanguageModelV4FunctionTool, LanguageModelV4Message, LanguageModelV4Prompt, SharedV4ProviderOptions } from '@ai-sdk/provider';
import type { ModelMessage, ModelRequest, ProviderData, ToolSpecification } from '@echelon/agent-loop';

export interface PromptStyle {
  /** Whether the wire format marks a failed tool result; elsewhere its text says so. */
  readonly marksToolErrors: boolean;
  /** Options of the system message and of the last message, where a provider caches what stands before a marker. */
  readonly cacheMarker?: SharedV4ProviderOptions;
  /** Absent: the provider's default. */
  readonly strictTools?: boolean;
}

type AssistantMessage = Extract<LanguageModelV4Message, { role: 'assistant' }>;
type ToolMessage = Extract<LanguageModelV4Message, { role: 'tool' }>;

export class PromptConverter {
  private readonly messages = new WeakMap<ModelMessage, LanguageModelV4Message>();
  private readonly tools = new WeakMap<readonly ToolSpecification[], LanguageModelV4FunctionTool[]>();

  constructor(private readonly style: PromptStyle) {}

  toPrompt({ system, messages }: ModelRequest): LanguageModelV4Prompt {
    const prompt: LanguageModelV4Prompt = system === '' ? [] : [this.mark({ role: 'system', content: system })];
    for (const message of messages) {
      const converted = this.convert(message);
      if (converted.content.length > 0) prompt.push(converted);
    }
    const last = prompt.at(-1);
    if (last !== undefined && last.role !== 'system') prompt[prompt.length - 1] = this.mark(last);
    return prompt;
  }

  toTools(specifications: readonly ToolSpecification[]): LanguageModelV4FunctionTool[] {
    const known = this.tools.get(specifications);
    if (known !== undefined) return known;
    const tools = specifications.map((tool) => this.toTool(tool));
    this.tools.set(specifications, tools);
    return tools;
  }

  private mark(message: LanguageModelV4Message): LanguageModelV4Message {
    return this.style.cacheMarker === undefined ? message : { ...message, providerOptions: this.style.cacheMarker };
  }

  private convert(message: ModelMessage): LanguageModelV4Message {
    const known = this.messages.get(message);
    if (known !== undefined) return known;
    const converted = this.convertAnew(message);
    this.messages.set(message, converted);
    return converted;
  }

  private convertAnew(message: ModelMessage): LanguageModelV4Message {
    switch (message.role) {
      case 'user':
        return { role: 'user', content: message.parts.map(({ text }) => ({ type: 'text', text })) };
      case 'assistant':
        return { role: 'assistant', content: message.parts.flatMap(toAssistantPart) };
      case 'tool':
        return { role: 'tool', content: message.parts.map((part) => this.toToolResult(part)) };
    }
  }

  private toToolResult({
    call_id,
    name,
    text,
    is_error,
  }: Extract<ModelMessage, { role: 'tool' }>['parts'][number]): ToolMessage['content'][number] {
    const type = is_error && this.style.marksToolErrors ? 'error-text' : 'text';
    return { type: 'tool-result', toolCallId: call_id, toolName: name, output: { type, value: text } };
  }

  private toTool({ name, description, parameters }: ToolSpecification): LanguageModelV4FunctionTool {
    const { strictTools: strict } = this.style;
    return { type: 'function', name, description, inputSchema: parameters, ...(strict === undefined ? {} : { strict }) };
  }
}

/** Empty text is no part: some providers refuse it. A thought without text may still carry what its provider wants back. */
function toAssistantPart(part: Extract<ModelMessage, { role: 'assistant' }>['parts'][number]): AssistantMessage['content'] {
  const options = part.provider_data === undefined ? {} : { providerOptions: toProviderOptions(part.provider_data) };
  switch (part.type) {
    case 'text':
      return part.text === '' ? [] : [{ type: 'text', text: part.text, ...options }];
    case 'thought':
      return [{ type: 'reasoning', text: part.text, ...options }];
    case 'tool_call':
      return [{ type: 'tool-call', toolCallId: part.call_id, toolName: part.name, input: part.arguments, ...options }];
  }
}

/** Provider data is what the SDK gave us as provider metadata, stored as JSON in between. */
function toProviderOptions(data: ProviderData): SharedV4ProviderOptions {
  return data as SharedV4ProviderOptions;
}
