/** One scripted model for all scenarios and surfaces, told apart by the name of the model that they ask for. */
import { SUBAGENT_ROLE } from '@echelon/agent-session';
import {
  type RecordedRequest,
  type ScriptedModel,
  type ScriptedRequest,
  type ScriptedResponse,
  startScriptedModel,
} from '@echelon/scripted-model';
import type { Scenario } from './scenario.js';

const [FALLBACK, DELEGATING, SPECULATING] = ['+fallback', '+delegating', '+speculating'];
/** How the question for the next prompt begins. */
const GUESS = 'Host note: the person has not said anything new.';
/** The call with which an agent hands the scenario to a subagent. */
export const DELEGATION = 'delegate';

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
    return this.model.requests.filter(({ body }) => nameOf(modelOf(body)) === name && !isOfDelegator(body) && !isBefore(body));
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
    if (request.model.endsWith(DELEGATING) && !request.system.startsWith(SUBAGENT_ROLE)) return delegate(request);
    const scenario = this.scenarios.get(name);
    if (scenario === undefined) throw new Error(`no scenario is played by ${name}`);
    const before = request.model.endsWith(SPECULATING) ? speakBefore(request) : null;
    if (before !== null) return { text: before };
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

/** The model of an agent that hands what it is told to a subagent on the same model. */
export function delegating(name: string): string {
  return `${name}${DELEGATING}`;
}

/** The model of a session whose next prompt is run ahead. */
export function speculating(name: string): string {
  return `${name}${SPECULATING}`;
}

/** How many messages stand before the scenario's own. */
export function countBefore(model: string): number {
  return model.endsWith(SPECULATING) ? 2 : 0;
}

/** What is said before the scenario: the session begins, and the next prompt is guessed. */
function speakBefore({ messages }: ScriptedRequest): string | null {
  const said = messages.filter(({ role }) => role === 'user').map(({ text }) => text);
  if (said.at(-1)?.startsWith(GUESS)) return 'Go.';
  return said.includes('Go.') ? null : 'Begun.';
}

export function isFallback(model: string): boolean {
  return model.includes(FALLBACK);
}

function delegate({ messages }: ScriptedRequest): ScriptedResponse {
  if (messages.some(({ role }) => role === 'tool')) return { text: 'Delegated.' };
  return {
    toolCalls: [{ name: 'run_subagent', arguments: { description: 'The scenario', prompt: 'Go.' }, id: DELEGATION }],
    usage: { inputTokens: 1, outputTokens: 1 },
  };
}

interface Body {
  readonly model?: string;
  readonly messages?: readonly { readonly content?: unknown }[];
}

function modelOf(body: unknown): string {
  return (body as Body | null)?.model ?? '';
}

function isOfDelegator(body: unknown): boolean {
  const [system] = (body as Body | null)?.messages ?? [];
  return modelOf(body).endsWith(DELEGATING) && !String(system?.content).startsWith(SUBAGENT_ROLE);
}

function isBefore(body: unknown): boolean {
  if (!modelOf(body).endsWith(SPECULATING)) return false;
  const said = ((body as Body).messages ?? []).map(({ content }) => String(content));
  return said.at(-1)?.startsWith(GUESS) === true || !said.includes('Go.');
}

function nameOf(model: string): string {
  return model.split('+')[0] ?? model;
}
