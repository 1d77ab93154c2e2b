/**
 * The model port over HTTP, one adapter for all dialects.
 *
 * C1  One `stream` is one HTTP request: no retries, no redirects (M1).
 * C2  Nothing is thrown out of a stream: a failure is its last event, and a cancel is told from a failure by the signal.
 * C3  Keys and header values never leave in a message.
 */
import type { LanguageModelV4, LanguageModelV4CallOptions } from '@ai-sdk/provider';
import type { ModelClient, ModelEvent, ModelFailure, ModelRequest } from '@echelon/agent-loop';
import { Attempt } from './attempt.js';
import { DIALECTS, type Dialect } from './dialects.js';
import { EventMapper } from './event-mapper.js';
import { ownFailure, redact } from './failure.js';
import { PromptConverter } from './prompt.js';
import type { ProviderConfig } from './provider-config.js';

const FIRST_EVENT_MS = 120_000;
/** A body whose last event has come normally ends at once, and its connection can then be used again. */
const BODY_END_MS = 1_000;

/** Makes the client of a provider. A configuration that cannot work fails every request with kind `configuration`. */
export function createModelClient(config: ProviderConfig): ModelClient {
  const problem = findProblem(config);
  return problem === null ? new HttpModelClient(config) : new UnavailableModelClient(problem);
}

function findProblem({ unavailable, baseUrl, apiKey, dialect }: ProviderConfig): string | null {
  if (unavailable !== undefined) return unavailable;
  if (baseUrl !== undefined) return URL.canParse(baseUrl) ? null : 'the base URL of the provider is not a URL';
  if (DIALECTS[dialect].vendorUrl === null) return `a provider of the ${dialect} dialect needs a base URL`;
  return apiKey ? null : `a provider of the ${dialect} dialect needs an API key`;
}

class UnavailableModelClient implements ModelClient {
  constructor(private readonly problem: string) {}

  async *stream(): AsyncGenerator<ModelEvent> {
    yield { type: 'error', failure: ownFailure('configuration', this.problem) };
  }
}

class HttpModelClient implements ModelClient {
  readonly repeatsCallIds: boolean;
  private readonly dialect: Dialect;
  private readonly prompts: PromptConverter;
  private readonly createModel: (model: string) => LanguageModelV4;
  private readonly models = new Map<string, LanguageModelV4>();
  private readonly secrets: readonly string[];

  constructor(private readonly config: ProviderConfig) {
    const { apiKey, headers = {}, baseUrl } = config;
    this.repeatsCallIds = config.repeatsCallIds ?? false;
    this.dialect = DIALECTS[config.dialect];
    this.prompts = new PromptConverter(this.dialect.style);
    this.secrets = [...(apiKey ? [apiKey] : []), ...Object.values(headers)];
    this.createModel = this.dialect.connect({
      baseUrl: baseUrl ?? this.dialect.vendorUrl ?? '',
      apiKey,
      headers: { ...headers },
      fetch: (input, init) => fetch(input, { ...init, redirect: 'manual' }),
    });
  }

  async *stream(request: ModelRequest, { signal }: { readonly signal: AbortSignal }): AsyncGenerator<ModelEvent> {
    const attempt = new Attempt(signal, this.config.timeouts?.firstEventMs ?? FIRST_EVENT_MS);
    try {
      yield* this.streamEvents(request, attempt);
    } catch (error) {
      if (!attempt.isFinished) yield { type: 'error', failure: this.toFailure(error, attempt) };
    } finally {
      attempt.close();
    }
  }

  private async *streamEvents(request: ModelRequest, attempt: Attempt): AsyncGenerator<ModelEvent> {
    attempt.throwIfCancelled();
    const { stream } = await this.findModel(request.model).doStream(this.toCallOptions(request, attempt.signal));
    const mapper = new EventMapper(this.dialect.createFacts(), (error) => this.toFailure(error, attempt));
    for await (const part of stream) {
      attempt.throwIfCancelled();
      if (part.type === 'raw') attempt.noticeEvent();
      const event = mapper.map(part);
      if (event === null) continue;
      yield event;
      if (event.type === 'error') return;
      if (event.type === 'finished') attempt.finish(BODY_END_MS);
    }
    attempt.noticeEnd();
  }

  private toCallOptions(request: ModelRequest, abortSignal: AbortSignal): LanguageModelV4CallOptions {
    const maxOutputTokens = request.maxOutputTokens ?? this.dialect.defaultOutputTokens;
    return {
      prompt: this.prompts.toPrompt(request),
      tools: this.prompts.toTools(request.tools),
      providerOptions: this.dialect.providerOptions,
      abortSignal,
      includeRawChunks: true,
      ...(maxOutputTokens === undefined ? {} : { maxOutputTokens }),
    };
  }

  private findModel(id: string): LanguageModelV4 {
    const known = this.models.get(id);
    if (known !== undefined) return known;
    const model = this.createModel(id);
    this.models.set(id, model);
    return model;
  }

  private toFailure(error: unknown, attempt: Attempt): ModelFailure {
    const failure = attempt.classify(error);
    return { ...failure, message: redact(failure.message, this.secrets) };
  }
}
