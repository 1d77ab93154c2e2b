/** One scripted model for all scenarios and surfaces, told apart by the name of the model that they ask for. */
import {
  type RecordedRequest,
  type ScriptedModel,
  type ScriptedRequest,
  type ScriptedResponse,
  startScriptedModel,
} from '@echelon/scripted-model';
import type { Scenario } from './scenario.js';

const FALLBACK = '+fallback';

export class ParityModel {
  private readonly scenarios = new Map<string, Scenario>();
  private readonly counts = new Map<string, number>();

  private constructor(private readonly model: ScriptedModel) {}

  static async start(): Promise<ParityModel> {
    const model = await startScriptedModel({ script: [] });
    const self = new ParityModel(model);
    model.setScript((request) => self.reply(request));
    return self;
  }

  get url(): string {
    return this.model.url;
  }

  /** Gives a scenario a model of its own for one run. */
  play(name: string, scenario: Scenario): void {
    this.scenarios.set(name, scenario);
  }

  requestsOf(name: string): readonly RecordedRequest[] {
    return this.model.requests.filter(({ body }) => nameOf(modelOf(body)) === name);
  }

  async untilRequest(name: string, count: number): Promise<void> {
    for (let seen = this.model.requestCount; this.requestsOf(name).length < count; seen = this.model.requestCount)
      await this.model.waitForRequest(seen + 1);
  }

  close(): Promise<void> {
    return this.model.close();
  }

  private reply(request: ScriptedRequest): ScriptedResponse {
    const name = nameOf(request.model);
    const scenario = this.scenarios.get(name);
    if (scenario === undefined) throw new Error(`no scenario is played by ${name}`);
    const at = this.counts.get(name) ?? 0;
    this.counts.set(name, at + 1);
    const reply = scenario.replies[Math.min(at, scenario.replies.length - 1)];
    if (reply === undefined) throw new Error(`${name} has no reply`);
    return typeof reply === 'function' ? reply(request) : reply;
  }
}

export function fallbackOf(name: string): string {
  return `${name}${FALLBACK}`;
}

export function isFallback(model: string): boolean {
  return model.endsWith(FALLBACK);
}

function modelOf(body: unknown): string {
  return (body as { readonly model?: string } | null)?.model ?? '';
}

function nameOf(model: string): string {
  return isFallback(model) ? model.slice(0, -FALLBACK.length) : model;
}
